/** Folders of the file server that clients and operations write to (reference/rest-api.md 5.30). */
import type { ServicePermission } from '@baton/contracts';
import { AppError, badParameter, isoInstant, parseInstant } from '@baton/kernel';
import { checkEntryPath } from './entry-rules';

export type FileArea = 'deployments' | 'tenant-resources' | 'global-resources';

/** One folder that is stored, locked and counted as a whole. */
export interface FolderKey {
  area: FileArea;
  /** Empty for global-resources. */
  tenant: string;
  /** Id of the deployment; empty in the other areas. */
  folder: string;
}

/** Limits of one folder. */
export interface FolderLimits {
  maxFiles: number;
  maxBytes: number;
  maxFileBytes: number;
}

/**
 * The permission for writing to each area, except for an execution that works in its own tenant: see
 * docs/adr/0017-written-files.md.
 */
export const writePermissions: Record<FileArea, ServicePermission> = {
  deployments: 'deployment_update',
  'tenant-resources': 'blueprint_upload',
  'global-resources': 'create_global_resource',
};

/** Clients ask every folder for this file, which is the list of its files. No file can be stored under this name. */
export const INDEX_NAME = '.cloudify-index.json';

export const isFileArea = (name: string): name is FileArea => Object.hasOwn(writePermissions, name);

/**
 * Returns the path of a file inside its folder, as it is stored.
 * @throws AppError bad_parameters_error when the path leads elsewhere, has another spelling or names a folder
 */
export function storedPath(path: string): string {
  const checked = checkEntryPath(path);
  if (!checked.ok || checked.value !== path || path === '')
    throw badParameter('path', `\`${path.slice(0, 300)}\` is no path of a file`, {
      expected: 'names between single slashes, without `.` and `..`',
    });
  if (path.split('/').at(-1) === INDEX_NAME)
    throw badParameter('path', `${INDEX_NAME} is the list of the folder and cannot be written`);
  return path;
}

/** Returns the paths of all folders above `path`: a/b/c -> [a, a/b]. */
function foldersOf(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join('/'));
}

/**
 * Checks that no file has the path of another file's folder: on a disk both could not exist.
 * @throws AppError conflict_error naming the two
 */
export function checkTree(paths: ReadonlySet<string>, added: readonly string[]): void {
  const folders = new Map<string, string>();
  for (const path of paths) for (const folder of foldersOf(path)) folders.set(folder, path);
  for (const path of added) {
    const inFile = foldersOf(path).find((folder) => paths.has(folder));
    const other = inFile ?? folders.get(path);
    if (other !== undefined)
      throw new AppError('conflict_error', `\`${path}\` and \`${other}\` cannot both be files`, {
        field: 'path',
      });
  }
}

/** Checks the size of each file. @throws AppError payload_too_large_error naming a file that is too large */
export function checkSizes(
  files: readonly { path: string; size: number }[],
  { maxFileBytes }: FolderLimits,
): void {
  const large = files.find(({ size }) => size > maxFileBytes);
  if (large)
    throw new AppError('payload_too_large_error', `\`${large.path}\` is larger than ${maxFileBytes} bytes`);
}

/**
 * Checks the number and bytes of a folder's files.
 * @throws AppError payload_too_large_error when the folder would exceed a limit
 */
export function checkRoom(files: number, bytes: number, limits: FolderLimits): void {
  if (files > limits.maxFiles)
    throw new AppError(
      'payload_too_large_error',
      `The folder would hold more than ${limits.maxFiles} files`,
      {
        expected: `at most ${limits.maxFiles} files`,
      },
    );
  if (bytes > limits.maxBytes)
    throw new AppError(
      'payload_too_large_error',
      `The folder would hold more than ${limits.maxBytes} bytes`,
      {
        expected: `at most ${limits.maxBytes} bytes`,
      },
    );
}

/**
 * Parses the `mtime` of an upload: ISO 8601 (UTC unless the text says otherwise) or seconds since 1970. Returns a time for
 * PostgreSQL, to the microsecond.
 * @throws AppError bad_parameters_error
 */
export function modifiedTime(given: string): string {
  const text = given.trim();
  if (/^\d{1,11}(\.\d{1,9})?$/.test(text)) return modifiedOfMicros(Math.round(Number(text) * 1e6));
  if (parseInstant(text) === null)
    throw badParameter('mtime', `\`${text.slice(0, 100)}\` is no time`, {
      expected: 'ISO 8601, or seconds since 1970',
    });
  return /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
}

/** Returns such a time from microseconds since 1970. */
export function modifiedOfMicros(micros: number): string {
  const whole = isoInstant(Math.floor(micros / 1000)).slice(0, -1);
  return `${whole}${String(micros % 1000).padStart(3, '0')}Z`;
}
