import { executionStatusChanged } from '@baton/contracts';
import { outbox, outgoing } from '@baton/postgres';
import type { Ports } from '../../ports';
import {
  hasStatusChanges,
  type StatusChange,
  setListening,
  takeStatusChanges,
} from '../store/status-changes.sql';

const BATCH = 200;

/**
 * Makes messages of the starts and ends that the trigger `executions_status_kept` has written. One transaction deletes the rows and
 * appends the messages, so a crash loses and doubles nothing.
 * @returns `again` when the batch was full.
 */
export async function tellStatusChanges({ db }: Pick<Ports, 'db'>): Promise<{ again: boolean }> {
  if (!(await hasStatusChanges(db.query))) return { again: false };
  const told = await db.tx(async (tx) => {
    const changes = await takeStatusChanges(tx, BATCH);
    await outbox.appendAll(tx, changes.map(messageOf));
    return changes.length;
  });
  return { again: told === BATCH };
}

/** Notes whether webhooks of a tenant want to hear of executions; repeating is harmless. */
export async function noteListening(
  { db }: Pick<Ports, 'db'>,
  tenant: string,
  interest: { isListening: boolean; version: number },
): Promise<void> {
  await db.tx((tx) => setListening(tx, tenant, interest));
}

const messageOf = (change: StatusChange) =>
  outgoing(
    executionStatusChanged,
    { tenant: change.tenant, key: change.execution_id },
    {
      executionId: change.execution_id,
      deploymentId: change.deployment_id ?? '',
      blueprintId: change.blueprint_id ?? '',
      workflowId: change.workflow_id,
      status: change.status,
      createdBy: change.created_by,
      changedAt: change.changed_at,
    },
  );
