/** Files of blueprints for workers: only those of the plan of their lease. */
import type { catalogRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import { archiveOfBlueprint } from '../queries/blueprint-archive';
import { type FileDeps, fileChunks, findArchiveFile, listArchiveFolder } from '../queries/read-file';
import type { WorkerBounds } from '../queries/worker-bounds';

type Handlers = RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>;

export const CHUNK_BYTES = 256 * 1024;

export function blueprintFileHandlers(
  deps: FileDeps,
  bounds: WorkerBounds,
): Pick<Handlers, 'readBlueprintFile' | 'listBlueprintFiles'> {
  /** Returns the digest of the blueprint's archive; null when it has none (yet). @throws AppError not_found_error */
  const archiveOf = async (tenant: string, blueprintId: string): Promise<string | null> => {
    // A caller that acts without a user sees the whole tenant.
    const who = { tenant, username: '', isAdministrator: true };
    return (await archiveOfBlueprint(deps.db, who, blueprintId)).archive_digest;
  };
  const hasNone = (blueprintId: string, kind: 'file' | 'folder', id: string): AppError =>
    new AppError('not_found_error', `blueprint \`${blueprintId}\` has no ${kind} \`${id}\``, { kind, id });
  return {
    async *readBlueprintFile({ tenant, blueprintId, path }, call) {
      await bounds.requireBlueprint(call, blueprintId);
      const digest = await archiveOf(tenant, blueprintId);
      const file = digest === null ? null : await findArchiveFile(deps, digest, path);
      if (file === null) throw hasNone(blueprintId, 'file', path);
      // An empty file is sent as one empty chunk, so that it differs from no file.
      if (file.size === 0) yield { data: Buffer.alloc(0) };
      for await (const data of fileChunks(deps, file, CHUNK_BYTES)) yield { data };
    },
    async listBlueprintFiles({ tenant, blueprintId, folder }, call) {
      await bounds.requireBlueprint(call, blueprintId);
      const { prefix, files } = await listArchiveFolder(deps, await archiveOf(tenant, blueprintId), folder);
      if (files.length === 0) throw hasNone(blueprintId, 'folder', folder);
      return { paths: files.map((file) => file.path.slice(prefix.length)) };
    },
  };
}
