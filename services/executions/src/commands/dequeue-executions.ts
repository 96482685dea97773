import { executionRequested } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import { admit } from '../domain/admission';
import type { EngineDeps } from '../engine/deps';
import {
  activeOfDeployment,
  blockingSystemExecutions,
  lockExecution,
  lockGuard,
  queuedExecutions,
  updateExecution,
} from '../store/executions.sql';
import type { ExecutionRow } from '../store/rows';
import type { DB } from '../store/tables.gen';

const BATCH = 20;

/**
 * Starts queued executions that nothing blocks any more, oldest first, one a deployment. Every replica may do it: rows
 * in other hands are skipped, and the guard row orders starters of one deployment.
 */
export async function dequeueExecutions(deps: EngineDeps): Promise<number> {
  const candidates = await deps.db.tx((tx) => queuedExecutions(tx, BATCH));
  let started = 0;
  for (const candidate of candidates) {
    const isStarted = await deps.db.tx((tx) => tryStart(tx, candidate));
    if (!isStarted) continue;
    started++;
    deps.wake.drive(candidate.id);
  }
  return started;
}

async function tryStart(tx: Tx<DB>, candidate: ExecutionRow): Promise<boolean> {
  // System-wide executions share one guard row.
  if (candidate.deployment_id === null) await lockGuard(tx, '', '');
  else await lockGuard(tx, candidate.tenant, candidate.deployment_id);
  if ((await lockExecution(tx, candidate.id))?.status !== 'queued') return false;
  const systemWide = (await blockingSystemExecutions(tx))
    .map((row) => row.id)
    .filter((id) => id !== candidate.id);
  const others =
    candidate.deployment_id === null
      ? []
      : await activeOfDeployment(tx, candidate.tenant, candidate.deployment_id);
  // Active ones block, and so do those that queued earlier.
  const before = others.filter(
    (row) => row.id !== candidate.id && (row.phase !== 'waiting' || isEarlier(row, candidate)),
  );
  const admission = admit(
    { isForced: candidate.is_forced, mayQueue: true },
    { systemWide, ofDeployment: before },
  );
  if (admission.kind !== 'start') return false;
  await updateExecution(tx, candidate.id, { status: 'pending', phase: 'planning' });
  await outbox.append(
    tx,
    executionRequested,
    { tenant: candidate.tenant, key: candidate.id },
    {
      executionId: candidate.id,
      deploymentId: candidate.deployment_id ?? undefined,
      workflowId: candidate.workflow_id,
    },
  );
  return true;
}

function isEarlier(row: ExecutionRow, than: ExecutionRow): boolean {
  if (row.status !== 'queued') return false;
  return row.created_at < than.created_at || (row.created_at === than.created_at && row.id < than.id);
}
