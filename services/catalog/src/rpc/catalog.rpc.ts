import { catalogRpc, type PluginSelection } from '@baton/contracts';
import { AppError, isFoldedJson } from '@baton/kernel';
import { type RpcPart, rpcPart } from '@baton/service-runtime';
import { adoptPluginsUpdate, dropPluginsUpdate, preparePluginsUpdate } from '../commands/plugins-update';
import type { PrepareDeps } from '../commands/prepare-blueprint';
import { MESSAGE_PLAN_CHARS } from '../domain/plan-limits';
import { parametersOf, uploadVisibility } from '../domain/upload-execution';
import { blueprintFor, pluginFor, storageFor, uploadFor, wagonOf } from '../queries/catalog-for-services';
import { type FileDeps, fileChunks } from '../queries/read-file';
import { createWorkerBounds } from '../queries/worker-bounds';
import { blueprintFileHandlers, CHUNK_BYTES } from './blueprint-files.rpc';
import { type FolderRpcDeps, folderHandlers } from './folders.rpc';

/** Returns the caller. A caller without a user name is a service that acts without a user: it sees the whole tenant. */
function whoOf(request: { tenant: string; username?: string; isAdministrator?: boolean }) {
  return {
    tenant: request.tenant,
    username: request.username ?? '',
    isAdministrator: request.isAdministrator === true || !request.username,
  };
}

async function findPlugins(
  deps: FileDeps,
  { tenant, queries }: catalogRpc.FindPluginsRequest,
): Promise<catalogRpc.FindPluginsResponse> {
  const who = whoOf({ tenant });
  const found = await Promise.all(
    queries.map(({ packageName: name, packageVersion, distribution }) =>
      pluginFor(deps.db.query, who, {
        name,
        version: packageVersion || null,
        distribution: distribution || null,
      }),
    ),
  );
  const revoked = found.find((plugin) => plugin?.signer_state === 'revoked');
  if (revoked)
    throw new AppError(
      'forbidden_error',
      `plugin ${revoked.archive_name} does not run: it is signed by the key \`${revoked.signer_name}\`, which is revoked`,
    );
  const plugins = found
    .filter((p) => p !== null)
    .map((p) => ({
      id: p.id,
      packageName: p.package_name,
      packageVersion: p.package_version ?? '',
      archiveName: p.archive_name,
      digest: p.wagon_digest,
    }));
  return { plugins };
}

/** Streams the wagon of a plugin. @throws AppError not_found_error */
async function* readWagon(
  deps: FileDeps,
  { tenant, pluginId }: catalogRpc.ReadWagonRequest,
): AsyncGenerator<{ data: Buffer }> {
  const blob_digest = await wagonOf(deps.db.query, whoOf({ tenant }), pluginId);
  for await (const data of fileChunks(deps, { content: null, blob_digest }, CHUNK_BYTES)) yield { data };
}

/** Streams a plan. @throws AppError not_found_error; conflict_error when the plan was replaced since the caller read its digest */
async function* readPlan(
  { db }: FileDeps,
  request: catalogRpc.ReadPlanRequest,
): AsyncGenerator<{ data: Buffer }> {
  const row = await blueprintFor(db.query, whoOf(request), request.blueprintId, true);
  if (request.digest !== '' && row.digest !== request.digest)
    throw new AppError('conflict_error', `blueprint \`${row.id}\` has another plan by now`, {
      field: 'digest',
    });
  const bytes = Buffer.from(row.plan_json ?? '');
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield { data: bytes.subarray(at, at + CHUNK_BYTES) };
}

/** Returns a plan that fits one message: callers of an older release know no other way, and none of them reads folded plans. */
function planForMessage(id: string, plan: string | null): string {
  if (plan === null) return '';
  if (plan.length > MESSAGE_PLAN_CHARS || isFoldedJson(plan))
    throw new AppError(
      'payload_too_large_error',
      `The plan of blueprint \`${id}\` is too large for one message`,
    );
  return plan;
}

/** Returns an upload in the form of its execution. @throws AppError not_found_error */
async function uploadOf(db: PrepareDeps['db']['query'], tenant: string, executionId: string) {
  const upload = await uploadFor(db, tenant, executionId);
  return {
    hasEnded: upload.has_ended,
    createdBy: upload.created_by,
    createdAt: upload.created_at,
    visibility: uploadVisibility(upload.visibility),
    parametersJson: JSON.stringify(parametersOf(upload)),
  };
}

/** Returns the tenant's usage and limit of storage; on the wire 0 means no limit. */
const storageAnswer = async ({ db, storageLimit }: PrepareDeps, tenant: string) => ({
  ...(await storageFor(db.query, tenant)),
  limit: storageLimit(tenant) ?? 0,
});

export function catalogRpcPart(deps: FileDeps & PrepareDeps & FolderRpcDeps): RpcPart {
  const db = deps.db.query;
  const bounds = createWorkerBounds(db);
  return rpcPart(catalogRpc.CatalogServiceDefinition, {
    ...folderHandlers(deps),
    ...blueprintFileHandlers(deps, bounds),
    async getBlueprint(request, call) {
      await bounds.requireBlueprint(call, request.blueprintId);
      const row = await blueprintFor(db, whoOf(request), request.blueprintId, request.withPlan);
      return {
        id: row.id,
        tenant: row.tenant,
        state: row.state,
        visibility: row.visibility,
        createdBy: row.created_by,
        mainFileName: row.main_file_name,
        digest: row.digest ?? '',
        planJson: planForMessage(row.id, row.plan_json),
        labelsJson: row.labels_json,
      };
    },
    readPlan: (request) => readPlan(deps, request),
    getUpload: ({ tenant, executionId }) => uploadOf(db, tenant, executionId),
    getStorage: ({ tenant }) => storageAnswer(deps, tenant),
    async findPlugins(request, call) {
      const names = request.queries.map((query) => query.packageName);
      await bounds.requirePackages(call, names);
      return await findPlugins(deps, request);
    },
    async *readWagon(request, call) {
      await bounds.requirePlugin(call, request.pluginId);
      yield* readWagon(deps, request);
    },
    async preparePluginsUpdate(request) {
      const { blueprintId, tempBlueprintId, selectionJson } = request;
      const selection = JSON.parse(selectionJson) as PluginSelection;
      const update = { blueprintId, tempBlueprintId, selection, importer: whoOf(request) };
      return { isChanged: await preparePluginsUpdate(deps, update) };
    },
    async adoptPluginsUpdate({ tenant, blueprintId, tempBlueprintId }) {
      await adoptPluginsUpdate(deps, tenant, blueprintId, tempBlueprintId);
      return {};
    },
    async dropPluginsUpdate({ tenant, tempBlueprintId, isKept }) {
      await dropPluginsUpdate(deps, tenant, tempBlueprintId, isKept);
      return {};
    },
  });
}
