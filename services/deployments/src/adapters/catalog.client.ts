import { createHash } from 'node:crypto';
import { catalogRpc, type PluginSelection } from '@baton/contracts';
import { isAppError, type JsonObject, readFoldedJson } from '@baton/kernel';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import { LRUCache } from 'lru-cache';

export interface Blueprint {
  id: string;
  /** Tenant that owns the blueprint; another tenant when the blueprint is global. */
  tenant: string;
  state: string;
  visibility: 'private' | 'tenant' | 'global';
  digest: string;
  /** Parsed plan; shared between callers, never changed. */
  plan: JsonObject;
}

export interface PluginQuery {
  packageName: string;
  packageVersion: string;
  distribution: string;
}

/** The catalog service as deployments sees it. */
export interface CatalogPort {
  /** Returns a blueprint, with its plan only when it is uploaded. Null when the caller sees none of that id. */
  blueprint(
    tenant: string,
    id: string,
    caller: { username: string; isAdministrator: boolean },
  ): Promise<Blueprint | null>;
  /** Returns the queries for which there is no uploaded plugin. */
  missingPlugins(tenant: string, queries: readonly PluginQuery[]): Promise<PluginQuery[]>;
  /**
   * Makes a hidden copy of a blueprint with other versions of its plugins; returns false when the blueprint has these versions
   * already. May be repeated.
   * @throws AppError not_found_error, bad_parameters_error, invalid_blueprint_error.
   */
  preparePluginsUpdate(of: BlueprintCopy, selection: PluginSelection, caller: Caller): Promise<boolean>;
  /** Returns the working folder of a deployment as a zip; null when it is empty. @throws AppError payload_too_large_error */
  zippedFolder(tenant: string, deploymentId: string): Promise<Buffer | null>;
  /**
   * Unpacks an archive into the working folder of a deployment. `isCheck`: only checks the archive, before the deployment exists.
   * With a request id it is done once, however often it is called.
   * @throws AppError bad_parameters_error, payload_too_large_error.
   */
  unpackFolder(
    tenant: string,
    deploymentId: string,
    archive: Buffer,
    how: { isCheck: true } | { requestId: string },
  ): Promise<void>;
  /** Gives the blueprint the plan of its copy. May be repeated. @throws AppError not_found_error. */
  adoptPluginsUpdate(of: BlueprintCopy): Promise<void>;
  /** Deletes the copy; with `isKept` it becomes an ordinary blueprint instead. May be repeated. */
  dropPluginsUpdate(of: BlueprintCopy, isKept: boolean): Promise<void>;
}

type Caller = { username: string; isAdministrator: boolean };

export interface BlueprintCopy {
  tenant: string;
  blueprintId: string;
  tempBlueprintId: string;
}

/** Deadline of a call in which the catalog parses the plan again. */
const PREPARE_MS = 60_000;

/** Most bytes of a working folder in an answer, as text; larger ones are read from the file server. */
const ZIP_BYTES = 32 * 1024 * 1024;
const ZIP_MS = 60_000;

const PLANS = 200;
/** Most characters of their texts; the parsed plans take several times as many bytes. */
const PLANS_CHARS = 48 * 1024 * 1024;
/** Long enough for a plan of a hundred megabytes, as one without shared parts between its nodes may be. */
const PLAN_MS = 60_000;

/** Returns the text of a plan as the catalog stores it. It is streamed, so it may be larger than a message. */
async function planText(
  client: RpcClient<catalogRpc.CatalogServiceDefinition>,
  of: { tenant: string; blueprintId: string; digest: string } & Caller,
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const { data } of client.readPlan(of, { deadlineMs: PLAN_MS })) chunks.push(data);
  return Buffer.concat(chunks).toString();
}

async function zippedFolder(
  client: RpcClient<catalogRpc.CatalogServiceDefinition>,
  tenant: string,
  deploymentId: string,
): Promise<Buffer | null> {
  const folder = { area: 'deployments', tenant, folder: deploymentId };
  const chunks: Buffer[] = [];
  for await (const { data } of client.zipFolder({ folder, maxBytes: ZIP_BYTES }, { deadlineMs: ZIP_MS }))
    chunks.push(data);
  return chunks.length === 0 ? null : Buffer.concat(chunks);
}

/** Caches plans by tenant that owns the blueprint, id and digest, for which a plan never changes. */
function createPlans(client: RpcClient<catalogRpc.CatalogServiceDefinition>) {
  const plans = new LRUCache<string, { plan: JsonObject; chars: number }>({
    max: PLANS,
    maxSize: PLANS_CHARS,
    sizeCalculation: ({ chars }) => Math.max(1, chars),
  });
  return async (owner: string, of: Parameters<typeof planText>[1]): Promise<JsonObject> => {
    const key = createHash('sha256').update(`${owner}\n${of.blueprintId}\n${of.digest}`).digest('hex');
    let known = plans.get(key);
    if (!known) {
      const text = await planText(client, of);
      known = { plan: readFoldedJson(text), chars: text.length };
      plans.set(key, known);
    }
    return known.plan;
  };
}

/** Makes the client. Plans are cached; every other call goes to the catalog. */
export function createCatalogClient(rpc: RpcConnector): CatalogPort {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  const planOf = createPlans(client);
  return {
    async blueprint(tenant, id, caller) {
      try {
        const head = await client.getBlueprint({ tenant, blueprintId: id, withPlan: false, ...caller });
        const found = {
          id,
          tenant: head.tenant,
          state: head.state,
          visibility: head.visibility as Blueprint['visibility'],
          digest: head.digest,
        };
        if (head.state !== 'uploaded') return { ...found, plan: {} };
        const of = { tenant, blueprintId: id, digest: head.digest, ...caller };
        return { ...found, plan: await planOf(head.tenant, of) };
      } catch (error) {
        // Its plan was replaced between the two calls.
        if (isAppError(error, 'conflict_error')) return this.blueprint(tenant, id, caller);
        if (isAppError(error, 'not_found_error')) return null;
        throw error;
      }
    },
    async preparePluginsUpdate(of, selection, caller) {
      const request = { ...of, ...caller, selectionJson: JSON.stringify(selection) };
      return (await client.preparePluginsUpdate(request, { deadlineMs: PREPARE_MS })).isChanged;
    },
    zippedFolder: (tenant, deploymentId) => zippedFolder(client, tenant, deploymentId),
    async unpackFolder(tenant, deploymentId, archive, how) {
      const folder = { area: 'deployments', tenant, folder: deploymentId };
      await client.unpackFolder({ folder, archive, ...how }, { deadlineMs: ZIP_MS });
    },
    async adoptPluginsUpdate(of) {
      await client.adoptPluginsUpdate(of);
    },
    async dropPluginsUpdate({ tenant, tempBlueprintId }, isKept) {
      await client.dropPluginsUpdate({ tenant, tempBlueprintId, isKept });
    },
    async missingPlugins(tenant, queries) {
      if (queries.length === 0) return [];
      const { plugins } = await client.findPlugins({ tenant, queries: [...queries] });
      return queries.filter(
        (query) =>
          !plugins.some(
            (plugin) =>
              plugin.packageName === query.packageName &&
              (query.packageVersion === '' || plugin.packageVersion === query.packageVersion),
          ),
      );
    },
  };
}
