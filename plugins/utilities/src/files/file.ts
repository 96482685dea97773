import { FatalError, type NodeScope, type NoValues, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { dictOf } from '../json';
import { modeOf, pathOf, placeFile, removeFile } from './local-file';
import { placeBySudo, removeBySudo } from './sudo';

const CONFIG = z.object({
  resource_path: z.string().describe('File of the blueprint'),
  file_path: z.string().describe('Absolute path on the machine of the worker'),
  owner: z.string().describe('user or user:group'),
  mode: z.int().describe('Permissions as digits: 644'),
  template_variables: z.any().optional().describe('Variables: the file is a template then'),
  use_sudo: z.boolean().default(false).describe('Place and remove the file with sudo'),
  allow_failure: z
    .boolean()
    .default(false)
    .describe('Go on without the file when the blueprint does not have it'),
});

const PROPERTIES = z.object({ resource_config: CONFIG });
type FileScope = NodeScope<typeof PROPERTIES, NoValues>;
type Config = z.output<typeof CONFIG>;

/** Input over runtime property over property. @throws FatalError that names each wrong value */
function configOf({ properties, runtime, inputs }: FileScope): Config {
  const parsed = CONFIG.safeParse({
    ...properties.resource_config,
    ...dictOf((runtime as Record<string, unknown>).resource_config),
    ...dictOf(inputs.resource_config),
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${['resource_config', ...path].join('.')}: ${message}`,
  );
  throw new FatalError(problems.join('; '));
}

async function create(scope: FileScope): Promise<boolean> {
  const config = configOf(scope);
  const target = { path: pathOf(config.file_path), owner: config.owner, mode: config.mode };
  modeOf(config.mode);
  let content: Uint8Array;
  try {
    content = await scope.ctx.getResource(config.resource_path);
  } catch (error) {
    if (!config.allow_failure) throw error;
    scope.log.error((error as Error).message);
    return true;
  }
  const variables = config.template_variables;
  if (typeof variables === 'object' && variables !== null) {
    scope.hide(variables);
    content = Buffer.from(await scope.render(Buffer.from(content).toString('utf8'), dictOf(variables)));
  }
  if (config.use_sudo) await placeBySudo(scope, content, target);
  else await placeFile(content, target);
  scope.log.info(`${target.path} is written (${content.length} bytes)`);
  return true;
}

async function remove(scope: FileScope): Promise<boolean> {
  const config = configOf(scope);
  if (config.use_sudo) await removeBySudo(scope, pathOf(config.file_path));
  else await removeFile(pathOf(config.file_path));
  return true;
}

/** A file of the blueprint, on the machine of the worker. */
export const file = nodeType({
  description: 'A file of the blueprint, on the machine of the worker',
  properties: PROPERTIES,
  create,
  delete: remove,
  mappings: {
    create: 'cfy_files.cloudify_files.tasks.create',
    delete: 'cfy_files.cloudify_files.tasks.delete',
  },
  resumable: ['create', 'delete'],
});
