import { deploymentDeleted } from '@baton/contracts';
import { type Db, outbox } from '@baton/postgres';
import type { SecretsPort } from '../adapters/secrets.client';
import type { RefusalTexts } from '../domain/refusal-texts';
import { isLaterExecution } from '../domain/statuses';
import { sharedTargets } from '../store/dependencies.sql';
import { failUpdateOf } from '../store/deployment-updates.sql';
import { type DeploymentRow, deleteDeployment } from '../store/deployments.sql';
import { refreshConsumers } from '../store/labels.sql';
import { parentsOf } from '../store/parents.sql';
import { settleExecution } from '../store/settled-executions.sql';
import {
  type LatestExecution,
  lockFamilyOf,
  refreshFamily,
  writeExecutionStatus,
} from '../store/statuses.sql';
import type { DB } from '../store/tables.gen';
import type { ExecutionNotes } from './note-executions';
import { resolveDependencies } from './resolve-dependencies';

interface Deps {
  db: Db<DB>;
  notes: ExecutionNotes;
}
type EndDeps = Deps & { secrets: SecretsPort; texts: Pick<RefusalTexts, 'failedDependencies'> };

interface EndedExecution {
  tenant: string;
  deploymentId: string;
  execution: LatestExecution;
  lastStateSeq: number;
}

const DELETE_WORKFLOW = 'delete_deployment_environment';

interface RequestedExecution {
  tenant: string;
  deploymentId: string;
  executionId: string;
  workflowId: string;
  resumedAt?: string;
  /** 0: the execution is new, or was resumed by an older release. */
  version: number;
}

/**
 * Handles an execution that was accepted or resumed: it becomes the latest execution of its deployment. Repeats and late messages
 * change nothing.
 */
export async function executionRequested(deps: Deps, of: RequestedExecution): Promise<void> {
  const { tenant, deploymentId, executionId: id, workflowId, resumedAt, version } = of;
  const counts = { totalOperations: 0, finishedOperations: 0 };
  const latest = { id, status: 'pending', workflowId, ...counts, resumedAt, version };
  const note = { tenant, deploymentId, execution: latest, hasEnded: false, stateSeq: 0 };
  if ((await deps.notes.write(note)).isDone) return;
  await deps.db.tx(async (tx) => {
    const row = await lockFamilyOf(tx, tenant, deploymentId);
    const known = row?.latest_execution ?? '';
    if (!row || isLaterExecution(known, id) || (known === id && !resumedAt && version === 0)) return;
    await writeExecutionStatus(tx, row.key, latest, false);
  });
}

/**
 * Handles the end of an execution: stores installation and latest status (reference/rest-api.md 6.4); after the end of
 * delete_deployment_environment it deletes the deployment. Late states, up to `lastStateSeq`, count as repeats from now on. Repeats
 * change nothing, nor does an end that a newer status of the execution has overtaken.
 * Returns the reason why a successful execution has failed after all (resolveDependencies); null when it has not. The failure is
 * shown only when the engine has decided it: two calls that report the same end may find different results, and the stored decision
 * counts.
 */
export async function executionEnded(deps: EndDeps, of: EndedExecution): Promise<string | null> {
  const { execution } = of;
  const isUsual = execution.workflowId !== DELETE_WORKFLOW && execution.status === 'terminated';
  const { tenant, deploymentId, lastStateSeq: stateSeq } = of;
  const note = { tenant, deploymentId, execution, hasEnded: true, stateSeq };
  const noted = isUsual ? await deps.notes.write(note) : null;
  if (noted?.isDone) return noted.hasComputed ? await resolveDependencies(deps, of) : null;
  await noteEnd(deps, of);
  return isUsual ? await resolveDependencies(deps, of) : null;
}

/** Whether a newer status of the execution was reported and handled already. */
const isOvertaken = (row: DeploymentRow, { id, version }: LatestExecution): boolean =>
  row.latest_execution === id && version !== 0 && version < row.latest_version;

async function noteEnd(deps: Pick<Deps, 'db'>, of: EndedExecution): Promise<void> {
  const { execution } = of;
  await deps.db.tx(async (tx) => {
    const row = await lockFamilyOf(tx, of.tenant, of.deploymentId);
    if (!row || isOvertaken(row, execution)) return;
    const isDeletion = execution.workflowId === DELETE_WORKFLOW;
    const isGone =
      isDeletion &&
      (execution.status === 'terminated' || (execution.status === 'failed' && row.deletion?.force === true));
    if (!isGone) {
      if (of.lastStateSeq > 0) await settleExecution(tx, execution.id, of.lastStateSeq);
      if (execution.status !== 'terminated') await failUpdateOf(tx, row.key, execution.id);
      await writeExecutionStatus(tx, row.key, execution, !isDeletion || execution.status !== 'terminated');
      return;
    }
    const parents = await parentsOf(tx, row.key);
    const shared = await sharedTargets(tx, row.key);
    await deleteDeployment(tx, row.key);
    await refreshFamily(tx, parents);
    await refreshConsumers(tx, [...parents, ...shared]);
    await outbox.append(
      tx,
      deploymentDeleted,
      { tenant: of.tenant, key: of.deploymentId, causationId: execution.id },
      {
        deploymentId: of.deploymentId,
        deleteLogs: row.deletion?.delete_logs ?? false,
        createExecutionId: row.create_execution ?? undefined,
      },
    );
  });
}
