import { posix } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { type FolderScope, inContainer, writeOwn } from './machine-folder';
import { placeSource, type SourceScope } from './place-source';

export const BACKEND = z.object({
  name: z.string().optional().describe('Kind of the backend, for instance s3'),
  options: z.record(z.string(), z.any()).optional().describe('Settings of the backend'),
});

/** Runtime properties with paths as the container sees them. */
export const TERRAFORM_RUNTIME = {
  storage_dir: z.string().describe('Folder of the module in the container'),
  plugins_dir: z.string().describe('Folder of the providers in the container'),
  variables_file: z.string().describe('File of the variables in the container'),
  backend_file: z.string().describe('File of the backend in the container'),
  terraform_script_file: z.string().describe('Script in the container that applies the module'),
  terraform_container_command_arg: z.string().describe('Command for a container that applies the module'),
};

interface TerraformFiles {
  folder: string;
  /** Where the container has the folder. */
  volume: string;
  /** Names of folders in it. */
  storage: string;
  plugins: string;
  /** Files of the blueprint or addresses. */
  providers: readonly string[];
  variables: Readonly<Record<string, unknown>>;
  backend: z.output<typeof BACKEND>;
  /** Name of the property of the providers, for messages. */
  providersName: string;
}

type TerraformScope = FolderScope &
  SourceScope & { runtime: Partial<Record<keyof typeof TERRAFORM_RUNTIME, string>> };

const BACKEND_FILE = 'baton_override.tf.json';
const SCRIPT = 'baton-apply.sh';

/** Writes what a module needs besides its own files: providers, variables, backend, and the script that a container runs. */
export async function writeTerraformFiles(
  scope: TerraformScope,
  connection: SshConnection,
  files: TerraformFiles,
): Promise<void> {
  const { runtime } = scope;
  const { folder, volume, storage, plugins, variables, backend } = files;
  const write = async (name: string, content: string): Promise<string> => {
    await writeOwn(scope, connection, posix.join(folder, storage, name), content);
    return inContainer(volume, storage, name);
  };
  runtime.storage_dir = inContainer(volume, storage);
  runtime.plugins_dir = inContainer(volume, plugins);
  const pluginsFolder = posix.join(folder, plugins);
  await connection.run(`mkdir -p -- ${quote(pluginsFolder)}`);
  for (const one of files.providers)
    await placeSource(scope, connection, one, pluginsFolder, { name: files.providersName, isProgram: true });
  if (Object.keys(variables).length > 0)
    runtime.variables_file = await write('vars.json', JSON.stringify(variables));
  const { name, options = {} } = backend;
  if (name !== undefined && name !== '')
    runtime.backend_file = await write(
      BACKEND_FILE,
      JSON.stringify({ terraform: { backend: { [name]: options } } }),
    );
  else if (Object.keys(options).length > 0) throw new FatalError('backend.name: the kind is missing');
  runtime.terraform_script_file = await write(
    SCRIPT,
    terraformScript({
      storage: runtime.storage_dir,
      plugins: files.providers.length > 0 ? runtime.plugins_dir : null,
      hasVariables: runtime.variables_file !== undefined,
    }),
  );
  runtime.terraform_container_command_arg = `sh ${quote(runtime.terraform_script_file)}`;
}

/** What is applied is the plan that was shown. Paths are those of the container. */
function terraformScript({
  storage,
  plugins,
  hasVariables,
}: {
  storage: string;
  plugins: string | null;
  hasVariables: boolean;
}): string {
  const always = '-no-color -input=false';
  return [
    '#!/bin/sh',
    'set -e',
    `cd ${quote(storage)}`,
    `terraform init ${always}${plugins === null ? '' : ` ${quote(`-plugin-dir=${plugins}`)}`}`,
    `terraform plan ${always} -out=baton.tfplan${hasVariables ? ' -var-file=vars.json' : ''}`,
    `terraform apply ${always} baton.tfplan`,
    'terraform output -no-color',
    '',
  ].join('\n');
}
