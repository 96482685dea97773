import {
  type AppError,
  badParameter,
  isJsonObject,
  type Json,
  type JsonObject,
  notFound,
} from '@baton/kernel';
import type { AnyTx } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import type { ModifiedNodes } from '../domain/modification';
import { idsOf, requireDeployment } from '../queries/workflow-model';
import { installedBelow } from '../store/dependencies.sql';
import { writeUpdate } from '../store/deployment-updates.sql';
import type { DeploymentRow } from '../store/deployments.sql';
import { readCallResult, storeCallResult } from '../store/model-calls.sql';
import { readChanged } from '../store/modifications.sql';
import { editSystemProperties } from '../store/node-instances.sql';
import { instancesText } from '../store/workflow-reads.sql';
import { finishUpdate } from './finish-update';
import { beginUpdate } from './initiate-update';
import {
  finishModification,
  rollbackModification,
  startModification,
  startModificationIn,
} from './modifications';
import { performUpdate } from './perform-update';
import { prepareUpdate, rehearseUpdate, requireUpdate } from './prepare-update';

type Deps = Pick<ServiceDeps, 'db' | 'documents' | 'catalog' | 'secrets' | 'executions' | 'boundsScaling'>;

export interface ModelCall {
  tenant: string;
  deploymentId: string;
  executionId: string;
  /** Unique within the execution. */
  callName: string;
  /** Creator of the execution. */
  username: string;
  /** `{call, ...}`: CallRequest of task-graph. */
  request: JsonObject;
}

/**
 * Performs a change of the model for a built-in workflow. The result is stored in the transaction of the change, so a repeated call
 * returns the first result and changes nothing.
 */
export async function callModel(deps: Deps, call: ModelCall): Promise<Json> {
  const row = await requireDeployment(deps, call.tenant, call.deploymentId);
  if (call.request.call === 'rehearse') return rehearse(deps, call.request.of, row);
  const known = await readCallResult(deps.db.query, call);
  if (known) return known.result;
  try {
    return await carryOut(deps, call, row);
  } catch (error) {
    // A concurrent repetition may have been first; then this call failed on the changes of the repetition.
    const stored = await readCallResult(deps.db.query, call);
    if (stored) return stored.result;
    throw error;
  }
}

/**
 * Returns the result that the call would have, and how new or changed instances would look; stores nothing.
 * @throws AppError as the call itself.
 */
async function rehearse(deps: Deps, of: Json | undefined, row: DeploymentRow): Promise<Json> {
  const request = isJsonObject(of) ? of : {};
  if (request.call === 'update-prepare') return rehearseUpdate(deps, row, String(request.updateId));
  if (request.call !== 'modification-start')
    throw unknownCall(request, ['modification-start', 'update-prepare']);
  let result: JsonObject = {};
  const taken = deps.db.tx(async (tx) => {
    const id = await startModificationIn(deps, tx, modificationOf(request, row));
    const { modification_id: _, ...ids } = await started(tx, id);
    const shown = [...ids.added, ...ids.related];
    result = { ...ids, instances: JSON.parse(await instancesText(tx, row.key, shown)) };
    throw new TakenBack();
  });
  await taken.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
  return result;
}

/** Rolls back a transaction that must leave nothing behind. */
class TakenBack extends Error {}

function modificationOf(request: JsonObject, { key, created_by: createdBy }: DeploymentRow) {
  return {
    deploymentKey: key,
    context: request.context ?? null,
    modified: (request.entities ?? {}) as ModifiedNodes,
    createdBy,
  };
}

function unknownCall(request: JsonObject, expected: string[]): AppError {
  return badParameter('request_json.call', `The model takes no call \`${String(request.call)}\``, {
    expected,
  });
}

async function carryOut(deps: Deps, call: ModelCall, row: DeploymentRow): Promise<Json> {
  const { request } = call;
  const { key: deploymentKey } = row;
  const keep = (tx: AnyTx, result: Json) => storeCallResult(tx, call, deploymentKey, result);
  switch (request.call) {
    case 'modification-start': {
      let result: Json = null;
      await startModification(deps, modificationOf(request, row), async (tx, id) => {
        result = await started(tx, id);
        await keep(tx, result);
      });
      return result;
    }
    case 'modification-finish':
      await finishModification(deps, String(request.modificationId), (tx) => keep(tx, null));
      return null;
    case 'modification-rollback':
      await rollbackModification(deps, String(request.modificationId), (tx) => keep(tx, null));
      return null;
    case 'system-properties':
      return deps.db.tx(async (tx) => {
        await editSystemProperties(tx, call.tenant, deploymentKey, request.changes ?? []);
        await keep(tx, null);
        return null;
      });
    case 'note':
      return null;
    case 'list-services':
      return deps.db.tx(async (tx) => {
        const ids = await installedBelow(tx, deploymentKey);
        await keep(tx, ids);
        return ids;
      });
    case 'update-begin':
      return beginUpdate(deps, row, call, keep);
    case 'update-prepare':
    case 'update-perform':
    case 'update-finish':
    case 'update-state':
      return callUpdate(deps, call, row, keep);
    default:
      throw unknownCall(request, [
        'modification-start',
        'modification-finish',
        'modification-rollback',
        'system-properties',
        'note',
        'list-services',
        'update-begin',
        'update-prepare',
        'update-perform',
        'update-finish',
        'update-state',
      ]);
  }
}

/** Performs the stages of a deployment update. */
async function callUpdate(
  deps: Deps,
  call: ModelCall,
  row: DeploymentRow,
  keep: (tx: AnyTx, result: Json) => Promise<void>,
): Promise<Json> {
  const updateId = String(call.request.updateId);
  switch (call.request.call) {
    case 'update-prepare':
      return prepareUpdate(
        deps,
        row,
        { executionId: call.executionId, updateId, workflowId: workflowOf(call) },
        keep,
      );
    case 'update-perform':
      return performUpdate(deps, row, updateId, keep);
    case 'update-finish':
      return await finishUpdate(deps, row, updateId, keep);
    default: {
      const { id } = await requireUpdate(deps, row, updateId);
      await deps.db.tx(async (tx) => {
        await writeUpdate(tx, id, { state: String(call.request.state) });
        await keep(tx, null);
      });
      return null;
    }
  }
}

/** Returns the workflow that performs the update instead of the built-in one; null: none. */
function workflowOf({ request }: ModelCall): string | null {
  const parameters = isJsonObject(request.parameters) ? request.parameters : {};
  return typeof parameters.workflow_id === 'string' && parameters.workflow_id !== ''
    ? parameters.workflow_id
    : null;
}

async function started(tx: AnyTx, id: string) {
  const row = await readChanged(tx, id);
  if (!row) throw notFound('DeploymentModification', id);
  return { modification_id: id, ...idsOf(row.added, row.removed) };
}
