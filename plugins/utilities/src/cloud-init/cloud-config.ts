import { readFile } from 'node:fs/promises';
import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { stringify } from 'yaml';
import * as z from 'zod';
import { once } from '../once';

type Config = Record<string, unknown>;

const PROPERTIES = z.object({
  header: z.string().nullable().default('#cloud-config').describe('First line of the text'),
  encode_base64: z.boolean().default(false).describe('Whether the text is encoded in base64'),
  resource_config: z
    .any()
    .default({})
    .describe('The configuration. The content of a file of write_files may name a file of the blueprint'),
});

const RUNTIME = z.object({
  cloud_config: z.string(),
  json_config: z.string(),
  resource_config: z.record(z.string(), z.unknown()),
});

type ConfigScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

const FILE_CONTENT = z.object({
  resource_type: z.literal('file_resource'),
  resource_name: z.string().min(1),
  template_variables: z.record(z.string(), z.json()).nullish(),
});

/** Writes the text of a configuration into runtime properties. */
async function update(scope: ConfigScope): Promise<void> {
  await once(scope, async () => {
    const { properties, runtime, inputs } = scope;
    const config = {
      ...dictionaryOf('properties', properties.resource_config),
      ...dictionaryOf('runtime', runtime.resource_config),
      ...dictionaryOf('inputs', inputs.resource_config),
    };
    const whole = await withFiles(scope, config);
    runtime.resource_config = whole;
    runtime.json_config = JSON.stringify(whole);
    runtime.cloud_config = textOf(whole, properties);
  });
}

function dictionaryOf(where: string, value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new FatalError(`${where}.resource_config: expected a dictionary`);
  return value as Config;
}

/** Puts the content of files of the blueprint in their places. @throws FatalError when one does not exist */
async function withFiles(scope: ConfigScope, config: Config): Promise<Config> {
  if (!Array.isArray(config.write_files)) return config;
  const files: unknown[] = [];
  for (const file of config.write_files as unknown[]) files.push(await withContent(scope, file));
  return { ...config, write_files: files };
}

async function withContent({ ctx }: ConfigScope, file: unknown): Promise<unknown> {
  const { content } = (file ?? {}) as { content?: unknown };
  const named = FILE_CONTENT.safeParse(content);
  if (!named.success) return file;
  const { resource_name: name, template_variables: variables } = named.data;
  const isTemplate = Object.keys(variables ?? {}).length > 0;
  const text = isTemplate
    ? await readFile(await ctx.downloadResourceAndRender(name, undefined, variables ?? {}), 'utf8')
    : Buffer.from(await ctx.getResource(name)).toString('utf8');
  return { ...(file as object), content: text };
}

function textOf(config: Config, { header, encode_base64: isEncoded }: ConfigScope['properties']): string {
  const yaml = stringify(config, {
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    version: '1.1',
  });
  const text = header ? `${header}\n${yaml}` : yaml;
  return isEncoded ? Buffer.from(text).toString('base64') : text;
}

/** A configuration for cloud-init, as a text for the user data of a machine. */
export const cloudConfig = nodeType({
  description: 'A configuration for cloud-init, as a text for the user data of a machine',
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    create: 'cloudinit.cloudify_cloudinit.tasks.update',
    configure: 'cloudinit.cloudify_cloudinit.tasks.update',
    start: 'cloudinit.cloudify_cloudinit.tasks.update',
    stop: 'cloudinit.cloudify_cloudinit.tasks.update',
    delete: 'cloudinit.cloudify_cloudinit.tasks.delete',
  },
  create: update,
  configure: update,
  start: update,
  stop: update,
  async delete(scope) {
    await once(scope, () => undefined);
  },
  resumable: ['create', 'configure', 'start', 'stop', 'delete'],
});
