/** Folders of the file server for workers: the working folder of a deployment, the files of a tenant, and the global files. */
import { Readable } from 'node:stream';
import type { catalogRpc } from '@baton/contracts';
import { AppError, badParameter } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import { spool } from '../archive/spool';
import { zipFolder } from '../archive/zip-folder';
import { changeFolder, type FolderDeps, joinContent, storePiece } from '../commands/change-folder';
import { checkFits, type UnpackDeps, unpackedFiles } from '../commands/unpack-into-folder';
import { type FolderKey, isFileArea, modifiedOfMicros, storedPath } from '../domain/file-area';
import { fileChunks } from '../queries/read-file';
import { folderSince, packedFiles, storedFile } from '../queries/read-folder';
import type { FileWrite } from '../store/stored-files.sql';

type Handlers = RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>;

const CHUNK_BYTES = 256 * 1024;
const MAX_PIECE_BYTES = 8 * 1024 * 1024;

function keyOf(folder: catalogRpc.Folder | undefined): FolderKey {
  if (!folder || !isFileArea(folder.area))
    throw badParameter('area', `there is no area ${folder?.area ?? ''} of the file server`);
  return { area: folder.area, tenant: folder.tenant, folder: folder.folder };
}

/** Streams a folder as a zip. @throws AppError payload_too_large_error before the first chunk */
async function* zipped(
  deps: FolderDeps,
  key: FolderKey,
  maxBytes: number,
): AsyncGenerator<catalogRpc.FileChunk> {
  const files = await packedFiles(deps, key, '');
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (bytes > maxBytes)
    throw new AppError('payload_too_large_error', `The folder holds more than ${maxBytes} bytes`, {
      expected: `at most ${maxBytes} bytes`,
    });
  if (files.length === 0) return;
  for await (const chunk of zipFolder(files)) yield* pieces(chunk as Buffer);
}

function* pieces(chunk: Buffer): Generator<{ data: Buffer }> {
  for (let at = 0; at < chunk.length; at += CHUNK_BYTES) yield { data: chunk.subarray(at, at + CHUNK_BYTES) };
}

export interface FolderRpcDeps extends UnpackDeps {
  /** @throws AppError not_found_error when the tenant has no such deployment */
  requireDeploymentOf(tenant: string, id: string): Promise<void>;
}

async function writeInto(
  deps: FolderRpcDeps,
  { folder, writes, removes }: catalogRpc.ChangeFolderRequest,
): Promise<{ version: string }> {
  const key = keyOf(folder);
  if (key.area !== 'deployments')
    throw badParameter('area', 'operations write to the folder of their deployment only');
  await deps.requireDeploymentOf(key.tenant, key.folder);
  const files: FileWrite[] = [];
  for (const { path, mode, modifiedUs, content, pieces } of writes) {
    const checked = {
      path: storedPath(path),
      mode: mode & 0o777,
      modified: modifiedOfMicros(modifiedUs),
    };
    files.push({ ...checked, ...(await joinContent(deps, content, pieces)) });
  }
  return { version: await changeFolder(deps, key, { writes: files, removes }) };
}

async function unpackFolder(
  deps: FolderRpcDeps,
  { folder, archive, isCheck, requestId }: catalogRpc.UnpackFolderRequest,
): Promise<catalogRpc.UnpackFolderResponse> {
  const key = keyOf(folder);
  if (key.area !== 'deployments')
    throw badParameter('area', 'only the folder of a deployment takes an archive');
  if (!isCheck) await deps.requireDeploymentOf(key.tenant, key.folder);
  const content = await spool(
    Readable.from([archive], { objectMode: false }),
    deps.extractLimits.maxArchiveBytes,
  );
  try {
    const writes = await unpackedFiles(deps, '', content);
    if (isCheck) checkFits(deps, writes);
    else await changeFolder(deps, key, { writes, ...(requestId === '' ? {} : { requestId }) });
    return {};
  } finally {
    await content.dispose();
  }
}

export function folderHandlers(
  deps: FolderRpcDeps,
): Pick<
  Handlers,
  'getFolder' | 'readStoredFile' | 'zipFolder' | 'storePiece' | 'changeFolder' | 'unpackFolder'
> {
  return {
    async getFolder({ folder, knownVersion }) {
      const key = keyOf(folder);
      const { maxFiles, maxBytes, maxFileBytes } = deps.folderLimits;
      const { version, isChanged, files } = await folderSince(deps, key, knownVersion);
      return {
        version,
        isChanged,
        files: files.map(({ path, size, mode, digest, modified_us: modifiedUs }) => ({
          path,
          size,
          mode,
          digest,
          modifiedUs,
        })),
        maxFiles,
        maxBytes,
        maxFileBytes,
      };
    },
    async *readStoredFile({ folder, path, digest }) {
      const file = await storedFile(deps, keyOf(folder), { path, digest });
      // An empty file is sent as one empty chunk, so that it differs from no file.
      if (file.size === 0) yield { data: Buffer.alloc(0) };
      for await (const data of fileChunks(deps, file, CHUNK_BYTES)) yield { data };
    },
    zipFolder: ({ folder, maxBytes }) => zipped(deps, keyOf(folder), maxBytes),
    async storePiece({ data }) {
      if (data.length > MAX_PIECE_BYTES)
        throw new AppError('payload_too_large_error', `A piece is larger than ${MAX_PIECE_BYTES} bytes`);
      return { digest: await storePiece(deps, data) };
    },
    changeFolder: (request) => writeInto(deps, request),
    unpackFolder: (request) => unpackFolder(deps, request),
  };
}
