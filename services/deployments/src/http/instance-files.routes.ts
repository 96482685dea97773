import { nodeInstanceFilesRoutes } from '@baton/contracts/http/node-instance-files';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import { deleteFile, type FileDeps, lockFile, putFile, unlockFile } from '../commands/instance-files';
import { filesOfInstance, openFile } from '../queries/instance-files';

const keyOf = (params: Record<string, string>, query: { lock_id?: string | undefined } = {}) => ({
  instanceId: params.id!,
  name: params.name!,
  ...(query.lock_id === undefined ? {} : { lockId: query.lock_id }),
});

async function* nothing(): AsyncGenerator<Buffer> {}

/** Files of node instances (docs/adr/0044-files-of-an-instance.md). */
export function instanceFilesHttp(deps: FileDeps): BoundRoute[] {
  return bindRoutes(nodeInstanceFilesRoutes, {
    listNodeInstanceFiles: async ({ principal, params }) => ({
      items: await filesOfInstance(deps.db.query, principal, params.id!),
    }),
    getNodeInstanceFile: async ({ principal, params }) => {
      const { stream } = await openFile(deps, principal, params.id!, params.name!);
      return answer({ stream, filename: params.name!, contentType: 'application/octet-stream' });
    },
    // An empty file arrives as a request without a body.
    putNodeInstanceFile: ({ principal, params, query, raw, hasBody }) =>
      putFile(deps, principal, keyOf(params, query), hasBody ? raw : nothing()),
    deleteNodeInstanceFile: async ({ principal, params, query }) => {
      await deleteFile(deps, principal, keyOf(params, query));
    },
    lockNodeInstanceFile: ({ principal, params, body: { lock_id: lockId, holder, seconds } }) =>
      lockFile(deps, principal, keyOf(params), { lockId, holder, seconds }),
    unlockNodeInstanceFile: async ({ principal, params, query }) => {
      await unlockFile(deps, principal, keyOf(params, query));
    },
  });
}
