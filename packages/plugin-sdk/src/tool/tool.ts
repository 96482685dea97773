import type { OperationLogger } from '../context';
import { FatalError } from '../errors';
import type { Exec } from '../tools/exec';
import { type FetchedTool, fetchedTool, type ToolDownload } from './fetched';
import { onPath, pathFolders, requireDigest } from './search';

/** A program that a plugin needs. */
export interface ToolSpec {
  /** Name of the program, for instance terraform. */
  name: string;
  /** The wanted version; without it any version that is found is right. */
  version?: string;
  /** The program on the worker, when its author or user knows better: nothing else is looked at. */
  path?: string;
  /** With `path`: SHA-256 of the program. */
  sha256?: string;
  /** What to download, by `<platform>-<architecture>` of Node.js, for instance linux-x64. */
  downloads?: Readonly<Record<string, ToolDownload>>;
  /** Arguments that make the program print its version. Default: --version. */
  versionArgs?: readonly string[];
  /** Name of the runtime property that keeps the version. Default: `<name>_version`. Null: none. */
  pinnedAs?: string | null;
  /** Takes the wanted version also when the instance was made by another one. */
  isUpdate?: boolean;
}

export interface FoundTool {
  /** The program. */
  path: string;
  version: string;
  from: 'path' | 'PATH' | 'download';
}

/** The part of a scope that a tool needs. */
export interface ToolScope {
  readonly exec: Exec;
  readonly log: OperationLogger;
  readonly signal: AbortSignal;
  /** Runtime properties, where the version is pinned. */
  readonly runtime?: object;
}

const VERSION = /(?<![\d.])\d+\.\d+(?:\.\d+)?(?:[-+][0-9A-Za-z.+-]+)?/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$/;

/**
 * Finds a program: at the given path; else on PATH in the right version; else downloaded once for the process of the plugin and checked
 * by its digest, each time that it is used. The version that is used first is pinned in a runtime property: later operations of the
 * instance, on whatever worker, use the same or fail.
 * @throws FatalError that says what is missing, and how to provide it
 */
export async function tool(scope: ToolScope, spec: ToolSpec): Promise<FoundTool> {
  if (!NAME.test(spec.name))
    throw new FatalError(`tool: ${JSON.stringify(spec.name)} is no name of a program`);
  const key =
    spec.pinnedAs === undefined ? `${spec.name.replace(/[^A-Za-z0-9_-]/g, '_')}_version` : spec.pinnedAs;
  const runtime = (scope.runtime ?? {}) as Record<string, unknown>;
  const pinned = key === null || spec.isUpdate ? undefined : runtime[key];
  const wanted = typeof pinned === 'string' && pinned !== '' ? pinned : spec.version;
  const found = await find(scope, spec, wanted);
  if (wanted !== undefined && found.version !== wanted) throw another(spec, found, wanted, wanted === pinned);
  if (key !== null && scope.runtime !== undefined) runtime[key] = found.version;
  return found;
}

async function find(scope: ToolScope, spec: ToolSpec, wanted: string | undefined): Promise<FoundTool> {
  const { name, path, sha256 } = spec;
  if (path !== undefined && path !== '') {
    if (sha256 !== undefined) await requireDigest(path, sha256);
    return { path, version: await versionOf(scope, path, spec), from: 'path' };
  }
  const others: string[] = [];
  for (const candidate of await onPath(name)) {
    const version = await versionOf(scope, candidate, spec);
    if (wanted === undefined || version === wanted) return { path: candidate, version, from: 'PATH' };
    others.push(`${version} (${candidate})`);
  }
  const fetched = await fetch(scope, spec, wanted, others);
  return { path: fetched.path, version: await versionOf(scope, fetched.path, spec), from: 'download' };
}

async function fetch(
  { log, signal }: ToolScope,
  spec: ToolSpec,
  wanted: string | undefined,
  others: readonly string[],
): Promise<FetchedTool> {
  const { name, downloads = {}, version } = spec;
  const kind = `${process.platform}-${process.arch}`;
  const from = version === undefined || wanted === version ? downloads[kind] : undefined;
  if (from !== undefined) return await fetchedTool(name, from, log, signal);
  const what = `${name}${wanted === undefined ? '' : ` ${wanted}`}`;
  const there = others.length > 0 ? `; there is ${others.join(', ')}` : '';
  const known = Object.keys(downloads);
  const why =
    known.length === 0
      ? 'the plugin names no download'
      : `the plugin names downloads for ${known.join(', ')} only${version === undefined ? '' : `, of ${version}`}`;
  throw new FatalError(
    `the program ${what} is not on this worker (looked in ${pathFolders().join(', ')})${there}; ${why}: install it on the workers`,
  );
}

/** Asks a program for its version. */
async function versionOf(
  { exec, signal }: ToolScope,
  path: string,
  { name, versionArgs }: ToolSpec,
): Promise<string> {
  const { stdout, stderr } = await exec(path, versionArgs ?? ['--version'], {
    signal,
    silenceLimitMs: 30_000,
    exitCodes: FATAL,
  });
  const found = VERSION.exec(stdout)?.[0] ?? VERSION.exec(stderr)?.[0];
  if (found === undefined) throw new FatalError(`${name} at ${path} does not say its version`);
  return found;
}

/** A program that cannot say its version will not say it at another try. */
const FATAL = { 1: 'fatal', 2: 'fatal', 126: 'fatal', 127: 'fatal' } as const;

function another(
  { name }: ToolSpec,
  { path, version, from }: FoundTool,
  wanted: string,
  isPinned: boolean,
): FatalError {
  const place = from === 'download' ? 'the downloaded program' : path;
  const why = isPinned ? `this instance was made with ${wanted}` : `${wanted} is wanted`;
  return new FatalError(`${name}: ${place} is ${version}, and ${why}`);
}
