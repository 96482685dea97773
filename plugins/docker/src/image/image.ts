import { FatalError, http, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { packTar } from 'modern-tar';
import * as z from 'zod';
import { CLIENT_CONFIG, checked, placeOf } from '../engine/client-config';
import { type Engine, withEngine } from '../engine/engine';
import { imagePath, separateTag } from '../engine/image-name';
import { progressReader } from '../engine/progress';

const PROPERTIES = z.object({
  client_config: CLIENT_CONFIG.nullish().describe('Where the engine is'),
  resource_config: z.object({
    image_content: z
      .string()
      .default('')
      .describe('Dockerfile: its text, a file of the blueprint, or an address'),
    tag: z.string().default('').describe('Name and tag of the image'),
    pull_image: z.boolean().default(false).describe('Whether the image is pulled when it is not there'),
    all_tags: z.boolean().default(false).describe('Whether all tags of the name are pulled'),
    context: z
      .record(z.string(), z.string())
      .optional()
      .describe('Files of the blueprint for the build, by their path in it'),
    registry_auth: z
      .record(z.string(), z.any())
      .optional()
      .describe('Login at the registry: username, password'),
  }),
});

const REGISTRY_AUTH = z.object({ username: z.string(), password: z.string() });

const RUNTIME = z.object({
  image: z.string().describe('Name and tag'),
  image_id: z.string().describe('Digest of the configuration of the image'),
  build_result: z.string().describe('The last part of the output'),
});

type ImageScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

/** The id that a name has at the engine; null: there is no such image. */
export async function imageId(engine: Engine, name: string): Promise<string | null> {
  const { status, json } = await withStatus(engine, name);
  return status === 404 ? null : json<{ Id: string }>().Id;
}

const withStatus = (engine: Engine, name: string) =>
  engine.call('GET', `${imagePath(name)}/json`, { alsoOk: [404] });

const atEngine = <T>(scope: ImageScope, work: (engine: Engine) => Promise<T>): Promise<T> => {
  scope.hide([scope.properties.client_config?.ssh?.key, scope.properties.client_config?.ssh?.password]);
  scope.hide([
    scope.properties.client_config?.tls?.key,
    scope.properties.resource_config.registry_auth?.password,
  ]);
  return withEngine(placeOf(scope.properties.client_config), scope, work);
};

async function create(scope: ImageScope): Promise<void> {
  const { resource_config: config } = scope.properties;
  if (config.image_content === '' && !config.pull_image)
    return void scope.log.info('there is nothing to build or pull');
  if (config.tag === '') throw new FatalError('resource_config.tag: the name of the image is missing');
  await atEngine(scope, async (engine) => {
    const { runtime } = scope;
    const isThere = config.image_content === '' && (await imageId(engine, config.tag)) !== null;
    if (!isThere) {
      runtime.build_result =
        config.image_content === '' ? await pull(scope, engine) : await build(scope, engine);
    }
    runtime.image = config.tag;
    runtime.image_id = (await imageId(engine, config.tag)) ?? undefined;
  });
}

async function build(scope: ImageScope, engine: Engine): Promise<string> {
  const { tag, context = {} } = scope.properties.resource_config;
  const files = [['Dockerfile', Buffer.from(await dockerfile(scope))] as const];
  for (const [path, resource] of Object.entries(context))
    files.push([path as never, Buffer.from(await scope.ctx.getResource(resource))]);
  const entries = files.map(([name, body]) => ({
    header: { name, size: body.length, mode: 0o755, mtime: new Date(0) },
    body,
  }));
  const progress = progressReader(scope.log);
  await engine.call('POST', '/build', {
    query: { t: tag, rm: true, forcerm: true },
    body: await packTar(entries),
    headers: { 'content-type': 'application/x-tar' },
    onData: progress.onData,
    timeoutMs: 0,
  });
  return progress.result(`the build of ${tag} failed`);
}

/** A text in one line with `\n` is a text too, as in the original. */
async function dockerfile({ properties, ctx, signal }: ImageScope): Promise<string> {
  const { image_content: content } = properties.resource_config;
  if (/^https?:\/\/\S+$/.test(content)) {
    const answer = await http.get<unknown>(content, { signal, headers: { accept: '*/*' } });
    if (typeof answer === 'string') return answer;
    throw new FatalError('resource_config.image_content: the address does not answer with a text');
  }
  const isPath = !/\s/.test(content) && !content.includes('\\n');
  return isPath
    ? Buffer.from(await ctx.getResource(content)).toString('utf8')
    : content.replaceAll('\\n', '\n');
}

async function pull(scope: ImageScope, engine: Engine): Promise<string> {
  const { tag: image, all_tags: isAll, registry_auth: auth } = scope.properties.resource_config;
  const { name, tag } = separateTag(image);
  const progress = progressReader(scope.log);
  const who = auth && checked(REGISTRY_AUTH, auth, 'resource_config.registry_auth');
  const login = who && Buffer.from(JSON.stringify(who)).toString('base64url');
  await engine.call('POST', '/images/create', {
    query: { fromImage: name, tag: isAll ? undefined : tag || undefined },
    headers: login === undefined ? {} : { 'x-registry-auth': login },
    onData: progress.onData,
    timeoutMs: 0,
  });
  return progress.result(`the pull of ${image} failed`);
}

/** Removes the image that `create` made. Another image that has its name now belongs to somebody else. */
async function remove(scope: ImageScope): Promise<void> {
  const { runtime, log } = scope;
  const { image, image_id: made, build_result: result } = runtime;
  if (image === undefined || result === undefined)
    return void log.info('the image was not made by this node: it stays');
  await atEngine(scope, async (engine) => {
    const present = await imageId(engine, image);
    if (present !== null && made !== undefined && present !== made)
      log.warning(`${image} is another image now: it stays`);
    else if (present !== null)
      await engine.call('DELETE', imagePath(image), { query: { force: true }, alsoOk: [404] });
  });
  for (const name of ['image', 'image_id', 'build_result'] as const) delete runtime[name];
}

const presentId = (scope: ImageScope): Promise<string | null> =>
  atEngine(scope, (engine) => imageId(engine, scope.runtime.image ?? scope.properties.resource_config.tag));

/** An image of a Docker engine. */
export const image = nodeType({
  description: 'An image of a Docker engine, built from a Dockerfile or pulled',
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    create: 'docker.cloudify_docker.tasks.build_image',
    delete: 'docker.cloudify_docker.tasks.remove_image',
  },
  create,
  delete: remove,
  async read(scope) {
    const id = await presentId(scope);
    return id === null ? null : { image_id: id };
  },
  async drift(scope) {
    const stored = scope.runtime.image_id;
    const present = await presentId(scope);
    return stored === undefined || stored === present ? null : [{ path: 'image_id', stored, present }];
  },
  resumable: ['create', 'delete'],
});
