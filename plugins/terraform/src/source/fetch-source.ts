import { mkdir, readdir } from 'node:fs/promises';
import { FatalError } from '@baton/plugin-sdk';
import type { ModuleScope, Source } from '../module/schema';
import { download } from './download';
import { refuseLinksOut } from './refuse-links';
import { unpack } from './unpack';

type FetchScope = Pick<ModuleScope, 'ctx' | 'exec' | 'http' | 'log'>;

/** Largest archive behind a URL or in a blueprint. */
const MAX_ARCHIVE_BYTES = 128 * 1024 * 1024;
const CLONE_MS = 600_000;

interface Location {
  location: string;
  username?: string | undefined;
  password?: string | undefined;
}

export const locationOf = (source: Source): Location =>
  typeof source === 'string' ? { location: source } : source;

/**
 * Puts the source of a module into `folder`, which is made. A folder or archive of the blueprint, an archive behind a URL, or a git
 * repository (`git::URL`, or an address that ends with `.git`, with `?ref=` for a branch or tag).
 * @throws FatalError what is wrong with the source; RetryableError when a server does not answer
 */
export async function fetchSource(scope: FetchScope, source: Source, folder: string): Promise<void> {
  const { location, username, password } = locationOf(source);
  if (location.trim() === '') throw new FatalError('resource_config.source.location is empty');
  if (isGit(location)) await clone(scope, { location, username, password }, folder);
  else if (/^https?:\/\//i.test(location)) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await unpack(
      await download(scope, location, { maxBytes: MAX_ARCHIVE_BYTES, username, password }),
      folder,
    );
  } else if (/^[a-z][a-z0-9+.-]*:/i.test(location))
    throw new FatalError(
      `resource_config.source.location: expected a path in the blueprint, http://, https:// or git::, got ${location.split(':')[0]}:`,
    );
  else await fromBlueprint(scope, location, folder);
  if ((await readdir(folder)).length === 0) throw new FatalError('the source of the module is empty');
  await refuseLinksOut(folder);
}

const ARCHIVE = /\.(zip|tar|tgz|tar\.gz)$/i;

async function fromBlueprint({ ctx }: FetchScope, location: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = location.replace(/^\.\//, '').replace(/\/+$/, '');
  if (ARCHIVE.test(path)) await unpack(await ctx.getResource(path), folder);
  else await ctx.downloadDirectory(path, folder);
}

const isGit = (location: string): boolean =>
  location.startsWith('git::') || /\.git(\?|$)/.test(location) || /^(git|ssh):\/\//.test(location);

async function clone({ exec, log }: FetchScope, source: Location, folder: string): Promise<void> {
  const text = source.location.replace(/^git::/, '');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol))
    throw new FatalError('resource_config.source.location: expected git::https://..., git::ssh://...');
  const ref = url.searchParams.get('ref');
  if (ref !== null && !/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(ref))
    throw new FatalError('resource_config.source.location: ref is no name of a branch or tag');
  url.search = '';
  url.username = source.username ?? url.username;
  log.info(`Cloning ${url.origin}${url.pathname}`);
  const which = ref === null ? [] : ['--branch', ref];
  await exec(
    'git',
    ['clone', '--quiet', '--depth', '1', '--no-recurse-submodules', ...which, '--', url.href, folder],
    {
      env: gitEnvironment(source.password),
      silenceLimitMs: CLONE_MS,
    },
  );
}

/** The password goes through the environment: arguments are seen by others. Git asks nobody, and runs no protocol but these. */
function gitEnvironment(password: string | undefined): Record<string, string> {
  const quiet = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:git',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  };
  if (password === undefined) return quiet;
  return {
    ...quiet,
    BATON_GIT_PASSWORD: password,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'credential.helper',
    GIT_CONFIG_VALUE_0: '!f() { echo "password=$BATON_GIT_PASSWORD"; }; f',
  };
}
