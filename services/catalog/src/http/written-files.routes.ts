/**
 * Routes of files that clients write: /resources and /file-server-proxy of deployments, tenants and all tenants together (reference
 * 5.30).
 */
import type { Principal } from '@baton/contracts';
import { answer, type Handler, type HttpCall } from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import { packFolder } from '../archive/pack-folder';
import { type Spool, spool } from '../archive/spool';
import { changeFolder, removeFromFolder, storeContent } from '../commands/change-folder';
import { inFolder, type UnpackDeps, unpackedFiles } from '../commands/unpack-into-folder';
import { type FileArea, type FolderKey, modifiedTime, storedPath } from '../domain/file-area';
import { filesOfFolder, packedFiles, readWritten } from '../queries/read-folder';
import type { FileWrite } from '../store/stored-files.sql';
import { isMultipart, type Parts, readParts } from './multipart';
import { requireTenantOfPath, serveFound } from './serve-found';

export interface WrittenFilesDeps extends UnpackDeps {
  /** @throws AppError not_found_error when the caller sees no such deployment in the tenant of the request */
  requireDeployment(principal: Principal, id: string): Promise<void>;
}

/** Most files of one POST. */
const MAX_FILES_A_REQUEST = 100;

/** Returns the folder of the path if the caller may see it. @throws AppError not_found_error */
async function folderOf(deps: WrittenFilesDeps, call: HttpCall, area: FileArea): Promise<FolderKey> {
  if (area === 'global-resources') return { area, tenant: '', folder: '' };
  requireTenantOfPath(call);
  const { tenant } = call.principal;
  if (area === 'tenant-resources') return { area, tenant, folder: '' };
  const folder = call.params.deployment_id!;
  await deps.requireDeployment(call.principal, folder);
  return { area, tenant, folder };
}

async function read(deps: WrittenFilesDeps, call: HttpCall, area: FileArea) {
  const key = await folderOf(deps, call, area);
  const path = call.params['*']!;
  if (call.query.archive) return packed(await packedFiles(deps, key, path), key.folder || area);
  return serveFound(call, await readWritten(deps, key, path));
}

/** Answers with a folder as a download. */
export const packed = (files: Parameters<typeof packFolder>[0], name: string) =>
  answer({
    stream: packFolder(files),
    filename: `${name}.tar.gz`,
    contentType: 'application/octet-stream',
  });

const NEW_FILE_MODE = 0o644;

async function put(deps: WrittenFilesDeps, call: HttpCall, area: FileArea) {
  const key = await folderOf(deps, call, area);
  const path = call.params['*']!;
  if (!call.query.extract) storedPath(path);
  const parts = await bodyOf(deps, call, call.query.extract);
  try {
    if (parts.files.length > 1)
      throw new AppError('multiple_files_upload_exception', 'A PUT writes one file; the body holds more', {
        expected: 'one file, or POST to the folder',
      });
    const content = parts.files[0]?.content;
    if (content === undefined) throw missingFile();
    if (call.query.extract) return await writeAndList(deps, key, await unpackedFiles(deps, path, content));
    return await writeAndList(deps, key, [await fileOf(deps, path, content, parts.fields.mtime)]);
  } finally {
    await parts.dispose();
  }
}

async function post(deps: WrittenFilesDeps, call: HttpCall, area: FileArea) {
  const key = await folderOf(deps, call, area);
  const folder = call.params['*']!;
  const parts = isMultipart(call) ? await bodyOf(deps, call, false) : null;
  try {
    if (parts === null || parts.files.length === 0) throw missingFile();
    const writes: FileWrite[] = [];
    for (const { fileName, content } of parts.files) {
      const path = storedPath(inFolder(folder, fileName));
      if (writes.some((write) => write.path === path))
        throw badParameter('file', `\`${path}\` occurs twice`, { expected: 'files of different names' });
      writes.push(await fileOf(deps, path, content, parts.fields.mtime));
    }
    return await writeAndList(deps, key, writes);
  } finally {
    await parts?.dispose();
  }
}

async function remove(deps: WrittenFilesDeps, call: HttpCall, area: FileArea) {
  await removeFromFolder(deps, await folderOf(deps, call, area), call.params['*']!);
  return answer({ status: 204 });
}

const missingFile = (): AppError =>
  new AppError('upload_missing_file', 'The body holds no file', {
    expected: 'multipart/form-data with a file',
  });

/** Reads the parts of a multipart body; any other body is one file. */
async function bodyOf(deps: WrittenFilesDeps, call: HttpCall, isArchive: boolean): Promise<Parts> {
  const maxBytes = isArchive ? deps.extractLimits.maxArchiveBytes : deps.folderLimits.maxFileBytes;
  if (isMultipart(call)) return readParts(call, { maxBytes, maxFiles: MAX_FILES_A_REQUEST });
  // An empty file arrives as a request without a body.
  const content = call.hasBody ? await spool(call.raw, maxBytes) : await spool(nothing(), maxBytes);
  return { fields: {}, files: [{ fileName: '', content }], dispose: () => content.dispose() };
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function fileOf(
  deps: WrittenFilesDeps,
  path: string,
  content: Spool,
  mtime: string | undefined,
): Promise<FileWrite> {
  const modified = mtime === undefined ? null : modifiedTime(mtime);
  return { path, mode: NEW_FILE_MODE, modified, ...(await storeContent(deps, content)) };
}

/** Writes files, and returns them as the folder then lists them. */
async function writeAndList(deps: WrittenFilesDeps, key: FolderKey, writes: readonly FileWrite[]) {
  await changeFolder(deps, key, { writes });
  const written = new Set(writes.map((write) => write.path));
  const files = await filesOfFolder(deps, key);
  return Object.fromEntries(files.filter((f) => written.has(f.path)).map((f) => [f.path, f.modified]));
}

/** Handlers by the ids of the routes, below both prefixes. */
export function writtenFileHandlers(deps: WrittenFilesDeps): Record<string, Handler> {
  const areas: [string, FileArea][] = [
    ['DeploymentFile', 'deployments'],
    ['TenantFile', 'tenant-resources'],
    ['GlobalFile', 'global-resources'],
  ];
  return Object.fromEntries(
    areas.flatMap(([noun, area]): [string, Handler][] => [
      [`get${noun}`, (call) => read(deps, call, area)],
      [`put${noun}`, (call) => put(deps, call, area)],
      [`post${noun}s`, (call) => post(deps, call, area)],
      [`delete${noun}`, (call) => remove(deps, call, area)],
    ]),
  );
}
