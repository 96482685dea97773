import type { Principal } from '@baton/contracts';
import { AppError, badParameter, notFound, storableJson } from '@baton/kernel';
import { type Db, isDataError, type Tx } from '@baton/postgres';
import { type RefusalTexts, specTexts } from '../domain/refusal-texts';
import { tenantOfInstance } from '../queries/list-node-instances';
import { type InstanceRow, lockInstance, writeInstance } from '../store/node-instances.sql';
import { noteOwned } from '../store/noted-deployments.sql';
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
 * PATCH /node-instances/{id} (reference/rest-api.md 5.16): an older version is a conflict, a newer one is accepted; the stored
 * version is increased by one.
 * @throws AppError not_found_error, conflict_error, only_deployment_update.
 */
export async function patchNodeInstance(
  deps: Deps & { texts: RefusalTexts },
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
    if (row.version > patch.version && !isForced)
      throw versionConflict(row, patch.version, row.version, deps.texts);
    await writeInstance(tx, tenant, id, {
      state: patch.state,
      runtimeProperties: patch.runtime_properties && storable(patch.runtime_properties),
      systemProperties: patch.system_properties && JSON.stringify(patch.system_properties),
    });
    noteInstance(tx, row);
  });
}

/** Reports to the streams of changes that an instance of the deployment has changed. */
function noteInstance(tx: Tx<DB>, { tenant, deployment_id: id, created_by, visibility }: InstanceRow): void {
  noteOwned(tx, 'changed', [{ tenant, id, created_by, visibility }]);
}

/**
 * Returns the properties as JSON. Text that the JSON operators of the database cannot read would break the reads of operations on
 * this host, so it is refused.
 */
function storable(properties: Record<string, unknown>): string {
  const json = JSON.stringify(properties);
  if (storableJson(json) === json) return json;
  throw badParameter('runtime_properties', 'A text holds a character that cannot be stored', {
    expected: 'text without NUL characters and halves of surrogate pairs',
  });
}

function versionConflict(
  row: InstanceRow,
  sent: number,
  stored: number,
  texts: RefusalTexts = specTexts,
): AppError {
  return new AppError('conflict_error', texts.staleInstance(row.id, sent, stored), {
    field: 'version',
    expected: stored,
    sent,
  });
}

async function tenantOf(deps: Deps, principal: Principal, id: string): Promise<string> {
  const tenant = await tenantOfInstance(deps.db.query, principal, id);
  if (tenant === null) throw notFound('NodeInstance', id);
  return tenant;
}

export interface OperationWrite {
  tenant: string;
  nodeInstanceId: string;
  /** The version that the operation has read. */
  version: number;
  /** JSON text that replaces all runtime properties. */
  runtimeProperties: string;
  /** Empty: the write is not made by an operation. */
  taskId: string;
  attempt: number;
  isForced: boolean;
  /** The only deployment whose instances may be written; absent: any of the tenant. */
  deploymentId?: string;
}

/**
 * Stores runtime properties written by an operation. It is a conflict only when runtime properties were written after `version`:
 * states that the engine writes meanwhile do not count. When the same attempt writes the same properties again, it gets the same
 * answer as before.
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
    // Most operations write the same properties as before: that is no change to report.
    if (row.runtime_properties !== write.runtimeProperties) noteInstance(tx, row);
    const task = write.taskId === '' ? undefined : { id: write.taskId, attempt: write.attempt };
    return writeInstance(tx, write.tenant, write.nodeInstanceId, {
      runtimeProperties: write.runtimeProperties,
      task,
    });
  });
}
