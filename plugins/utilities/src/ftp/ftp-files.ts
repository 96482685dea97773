import { Readable } from 'node:stream';
import { defaultFrom, FatalError, type NodeScope, nodeType, RetryableError } from '@baton/plugin-sdk';
import { Client, FTPError } from 'basic-ftp';
import * as z from 'zod';
import { once } from '../once';
import { problemsOf } from '../problems';

const AUTH = z.object({
  user: z.string().default('').describe('User for the login'),
  password: z.string().default('').describe('Password of the user'),
  ip: z.string().default('').describe('Address of the server'),
  port: z.int().min(1).max(65_535).default(21),
  ignore_host: z
    .boolean()
    .default(false)
    .describe('No effect: the address that the server tells is never used'),
  tls: z.boolean().default(false).describe('Whether the connection is encrypted (explicit TLS)'),
  verify: z.boolean().optional().describe('Whether the certificate of the server is checked; default: true'),
  ca: z.string().optional().describe('Certificates that are trusted, as PEM; none: those of the system'),
});

const PROPERTIES = z.object({
  resource_config: AUTH.default(AUTH.parse({})),
  raw_files: z.any().default({}).describe('Files of the blueprint, by their path at the server'),
  files: z.any().default({}).describe('Texts, by their path at the server'),
});

const RUNTIME = z.object({ files: z.array(z.string()).describe('Paths of the files that were uploaded') });

type FtpScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;
type Auth = z.output<typeof AUTH>;

const TIMEOUT_MS = 30_000;
/** The server cannot do what was asked, and will not be able to. */
const PERMANENT = 500;
const LOGIN_REFUSED = 530;
const MISSING = 550;

/** Uploads the files. Each path is stored before its upload: delete knows what may be there. */
async function create(scope: FtpScope): Promise<void> {
  await once(scope, async () => {
    const { runtime, ctx, inputs, properties, signal } = scope;
    const texts = dictionaryOf('files', inputs.files ?? properties.files);
    const resources = dictionaryOf('raw_files', inputs.raw_files ?? properties.raw_files);
    const contents: [string, () => Promise<Uint8Array>][] = [
      ...Object.entries(texts).map(([path, text]): [string, () => Promise<Uint8Array>] => [
        path,
        async () => Buffer.from(text),
      ]),
      ...Object.entries(resources).map(([path, file]): [string, () => Promise<Uint8Array>] => [
        path,
        () => ctx.getResource(file),
      ]),
    ];
    const auth = authOf(scope);
    await withServer(auth, signal, async (server) => {
      for (const [path, content] of contents) {
        requirePath(path);
        runtime.files = [...new Set([...(runtime.files ?? []), path])];
        await (await ctx.instance()).update();
        await server.uploadFrom(Readable.from([Buffer.from(await content())]), path);
        scope.log.info(`uploaded ${path}`);
      }
    });
  });
}

async function remove(scope: FtpScope): Promise<void> {
  await once(scope, async () => {
    const { runtime, signal, log } = scope;
    const files = runtime.files ?? [];
    if (files.length === 0) return;
    await withServer(authOf(scope), signal, async (server) => {
      for (const path of files) {
        try {
          await server.remove(path);
          log.info(`removed ${path}`);
        } catch (error) {
          if (!(error instanceof FTPError) || error.code !== MISSING) throw error;
          log.info(`${path} is not there any more`);
        }
      }
    });
  });
}

/** Connects and logs in, and closes the connection after `work`. @throws FatalError, RetryableError without the password */
async function withServer(
  auth: Auth,
  signal: AbortSignal,
  work: (server: Client) => Promise<void>,
): Promise<void> {
  const server = new Client(TIMEOUT_MS);
  const place = `${auth.ip}:${auth.port}`;
  const stop = (): void => server.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw new Error('the operation is stopped');
    await server.access({
      host: auth.ip,
      port: auth.port,
      user: auth.user,
      password: auth.password,
      secure: auth.tls,
      secureOptions: { rejectUnauthorized: auth.verify ?? true, ...(auth.ca && { ca: auth.ca }) },
    });
    await work(server);
  } catch (error) {
    const message = `FTP server ${place}: ${(error as Error).message}`;
    if (error instanceof FatalError) throw error;
    if (error instanceof FTPError && error.code >= PERMANENT && error.code !== LOGIN_REFUSED)
      throw new FatalError(message);
    throw new RetryableError(message, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
    server.close();
  }
}

/** The input before the property, key by key. @throws FatalError */
function authOf({ inputs, properties, hide }: FtpScope): Auth {
  const parsed = AUTH.safeParse({
    ...properties.resource_config,
    ...dictionaryOf('resource_config', inputs.resource_config),
  });
  if (!parsed.success) throw new FatalError(problemsOf('resource_config', parsed.error));
  hide(parsed.data.password);
  if (parsed.data.ip === '') throw new FatalError('resource_config.ip: the address of the server is missing');
  return parsed.data;
}

function dictionaryOf(name: string, value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new FatalError(`${name}: expected a dictionary`);
  return value as Record<string, string>;
}

/** A line end in a path would be a second command to the server. */
function requirePath(path: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (path === '' || /[\u0000-\u001f]/.test(path))
    throw new FatalError('files: a path holds a control character, or is empty');
}

/** An input whose value is that of the property, as in the original. */
const own = (name: string) => defaultFrom(z.any().optional(), { get_property: ['SELF', name] });

/** Files on an FTP server. */
export const ftpFiles = nodeType({
  description: 'Files on an FTP server',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: {
    create: z.object({
      resource_config: own('resource_config'),
      raw_files: own('raw_files'),
      files: own('files'),
    }),
    delete: z.object({ resource_config: own('resource_config') }),
  },
  mappings: { create: 'cfy_ftp.cloudify_ftp.tasks.create', delete: 'cfy_ftp.cloudify_ftp.tasks.delete' },
  create,
  delete: remove,
  resumable: ['create', 'delete'],
});
