import type { Principal } from '@baton/contracts';
import { AppError, badParameter, notFound, storableJson } from '@baton/kernel';
import { type Db, isDataError } from '@baton/postgres';
import { tenantOfInstance } from '../queries/list-node-instances';
import { type InstanceRow, lockInstance, writeInstance } from '../store/node-instances.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

export interface InstancePatch {
  version: number;
  state?: string;
  runtime_properties?: Record<string, unknown>;
  system_properties?: Record<string, unknown>;
  relationships?: unknown[];
}

/**
 * PATCH /node-instances/{id} (reference/rest-api.md 5.16): an older version is a conflict, a newer one is accepted;
 * the stored version goes up by one.
 * @throws AppError not_found_error, conflict_error, only_deployment_update.
 */
export async function patchNodeInstance(
  deps: Deps,
  principal: Principal,
  id: string,
  patch: InstancePatch,
  isForced: boolean,
): Promise<void> {
  if (patch.relationships !== undefined) {
    throw new AppError(
      'only_deployment_update',
      'Relationships of node instances are changed only by a deployment update',
      { field: 'relationships' },
    );
  }
  const tenant = await tenantOf(deps, principal, id);
  await deps.db.tx(async (tx) => {
    const row = await lockInstance(tx, tenant, id);
    if (!row) throw notFound('NodeInstance', id);
    if (row.version > patch.version && !isForced) throw versionConflict(row, patch.version, row.version);
    await writeInstance(tx, tenant, id, {
      state: patch.state,
      runtimeProperties: patch.runtime_properties && storable(patch.runtime_properties),
      systemProperties: patch.system_properties && JSON.stringify(patch.system_properties),
    });
  });
}

/** What is no JSON to the operators of the database would keep the operations of instances on this host from being read. */
function storable(properties: Record<string, unknown>): string {
  const json = JSON.stringify(properties);
  if (storableJson(json) === json) return json;
  throw badParameter('runtime_properties', 'A text holds a character that cannot be stored', {
    expected: 'text without NUL characters and halves of surrogate pairs',
  });
}

function versionConflict(row: InstanceRow, sent: number, stored: number): AppError {
  return new AppError(
    'conflict_error',
    `Node instance \`${row.id}\` was changed meanwhile: version ${sent} was sent, ${stored} is stored`,
    {
      field: 'version',
      expected: stored,
      sent,
    },
  );
}

async function tenantOf(deps: Deps, principal: Principal, id: string): Promise<string> {
  const tenant = await tenantOfInstance(deps.db.query, principal, id);
  if (tenant === null) throw notFound('NodeInstance', id);
  return tenant;
}

export interface OperationWrite {
  tenant: string;
  nodeInstanceId: string;
  /** The version that the operation read. */
  version: number;
  /** JSON text, replaces all runtime properties. */
  runtimeProperties: string;
  /** Empty: not written by an operation. */
  taskId: string;
  attempt: number;
  isForced: boolean;
  /** The only deployment whose instances may be written; absent: any of the tenant. */
  deploymentId?: string;
}

/**
 * Runtime properties written by an operation. A conflict only when runtime properties were written after `version`:
 * states that the engine writes meanwhile do not count. The same attempt writing the same again is answered as before.
 * @throws AppError conflict_error; stale_attempt_error when a later attempt of the task has written.
 */
export async function writeRuntimeProperties(deps: Deps, asked: OperationWrite): Promise<number> {
  if (!asked.runtimeProperties.startsWith('{'))
    throw badParameter('runtime_properties_json', 'Runtime properties must be a dictionary', {
      expected: 'JSON object',
    });
  const write = { ...asked, runtimeProperties: storableJson(asked.runtimeProperties) };
  try {
    return await replaceProperties(deps, write);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const why = (error as Error).message;
    throw badParameter('runtime_properties_json', `The runtime properties cannot be stored: ${why}`);
  }
}

function replaceProperties(deps: Deps, write: OperationWrite): Promise<number> {
  return deps.db.tx(async (tx) => {
    const row = await lockInstance(tx, write.tenant, write.nodeInstanceId, write.deploymentId ?? null);
    if (!row) throw notFound('NodeInstance', write.nodeInstanceId);
    const isSameTask = write.taskId !== '' && row.written_task === write.taskId;
    if (isSameTask && (row.written_attempt ?? 0) > write.attempt) {
      throw new AppError(
        'stale_attempt_error',
        `Attempt ${write.attempt} of task ${write.taskId} was superseded by attempt ${row.written_attempt}`,
        { attempt: write.attempt },
      );
    }
    if (row.properties_version > write.version && !write.isForced) {
      if (
        isSameTask &&
        row.written_attempt === write.attempt &&
        row.runtime_properties === write.runtimeProperties
      )
        return row.version;
      throw versionConflict(row, write.version, row.version);
    }
    const task = write.taskId === '' ? undefined : { id: write.taskId, attempt: write.attempt };
    return writeInstance(tx, write.tenant, write.nodeInstanceId, {
      runtimeProperties: write.runtimeProperties,
      task,
    });
  });
}
