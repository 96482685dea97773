import { executionFinished } from '@baton/contracts';
import { backoffMs, isoInstant } from '@baton/kernel';
import { outgoing, unsent } from '@baton/postgres';
import { workflowEvent } from '../../events/domain/graph-events';
import { DELETE_WORKFLOW } from '../../executions/domain/system-workflows';
import type { TimedExecution } from '../../executions/store/executions.sql';
import type { Outcome } from '../../store/rows';
import { forcedLeftMs, modeOf } from '../domain/cancel';
import type { EnginePorts } from '../ports';
import { emptyWrite, type StepWrite } from '../store/step-write';
import { type ActOnComponentsDeps, cancelComponents } from './act-on-components';
import { cancelNested } from './await-nested';
import { deliverDecided } from './deliver-states';

export type EndExecutionDeps = Pick<
  EnginePorts,
  'deployments' | 'log' | 'memory' | 'steps' | 'turns' | 'wake'
> &
  ActOnComponentsDeps;

const EVENT_OF = {
  terminated: 'workflow_succeeded',
  failed: 'workflow_failed',
  cancelled: 'workflow_cancelled',
} as const;

/**
 * Ends an execution whose outcome is decided. Unless it succeeded, the unended executions that its stages have started are
 * cancelled; if it was cancelled, also the executions on its components. Its last states reach deployments first, so that a client
 * that sees the end sees its effects. Then status, terminal event and message are written in one transaction. A forced cancel
 * does not wait for deployments longer than its limit: states and end follow later (engine/loops/engine.loops.ts). Returns null
 * when the row has moved on.
 */
export async function endExecution(
  deps: EndExecutionDeps,
  execution: TimedExecution,
): Promise<TimedExecution | null> {
  const outcome = execution.outcome!;
  if (outcome.status !== 'terminated') await cancelNested(deps, execution.id);
  // With the outcome `terminated`, which a client may have set since, deployments decides whether it holds: no time limit.
  const leftMs = outcome.status === 'terminated' ? null : forcedLeftMs(execution, execution.now_ms);
  let isTold = true;
  if (leftMs !== null) isTold = await toldWithin(deps, execution, outcome, leftMs);
  else {
    if (outcome.status === 'cancelled') await cancelComponents(deps, execution, modeOf(execution.status));
    const other = await toldOutcome(deps, execution);
    if (other) return await decidedAnew(deps, execution, other);
  }
  const write: StepWrite = {
    ...emptyWrite(execution),
    changes: { status: outcome.status, phase: 'ended', error: outcome.error },
    isEnd: true,
    // An end that deployments may not have heard is still owed to it (tell-owed-ends.ts).
    wakeAt: isTold ? null : isoInstant(execution.now_ms),
    events: [workflowEvent(execution, EVENT_OF[outcome.status], outcome.error)],
    // States that deployments has are deleted in the same step.
    deliveredSeq: isTold ? execution.last_state_seq : 0,
    outbox: isEndOwed(execution) ? [finishedMessage(execution, outcome.status)] : [],
  };
  const row = await deps.turns.take(execution.id, () => deps.steps.write(write));
  if (!row) {
    // The process that has moved the row on has the end that counts, and tells it with a later version.
    deps.memory.forget(execution.id);
    return null;
  }
  deps.wake.events(execution.id);
  deps.wake.ended(execution.id);
  const { last_event_seq, version, now_ms } = row;
  const at = { last_event_seq, version, now_ms, wake_at: write.wakeAt };
  const ended = { ...execution, ...write.changes, ...at } as TimedExecution;
  deps.memory.moved(execution, ended);
  const loaded = deps.memory.known(execution.id);
  if (loaded && isTold) loaded.deliveredSeq = 0;
  return ended;
}

/**
 * Tells deployments the end. Deployments may find that the execution has failed all the same: then this failure, which is returned,
 * is decided on a version of its own before it is told. Null: the outcome stays.
 */
async function toldOutcome(deps: EndExecutionDeps, execution: TimedExecution): Promise<Outcome | null> {
  const failure = await tellDeployments(deps, execution, execution.outcome!);
  return failure === '' ? null : { ...execution.outcome!, status: 'failed', error: failure };
}

/** Stores another outcome, with which the next turn ends the execution; returns the new row. Null: the row has moved on. */
async function decidedAnew(
  deps: EndExecutionDeps,
  execution: TimedExecution,
  outcome: Outcome,
): Promise<TimedExecution | null> {
  const write: StepWrite = { ...emptyWrite(execution), changes: { outcome } };
  const row = await deps.turns.take(execution.id, () => deps.steps.write(write));
  deps.memory.forget(execution.id);
  return row && { ...execution, outcome, version: row.version, now_ms: row.now_ms };
}

/**
 * Delivers the last states to deployments and tells it the end; both may be repeated. The rows of the states stay for the step
 * that ends the execution. The end is told with the version of the row on which it was decided, and deployments takes no end that
 * is older than the one it shows: so the end that counts is shown, in whatever order two ends arrive. Returns the reason why the
 * execution has failed all the same; '': it has not failed.
 */
export async function tellDeployments(
  deps: EndExecutionDeps,
  execution: TimedExecution,
  outcome: Pick<Outcome, 'status'>,
): Promise<string> {
  await deliverDecided(deps, execution);
  // A dry run changes nothing of the deployment, and must not be taken for its deletion.
  if (!execution.deployment_id || execution.is_dry_run) return '';
  return await deps.deployments.executionEnded({
    tenant: execution.tenant,
    deploymentId: execution.deployment_id,
    executionId: execution.id,
    workflowId: execution.workflow_id,
    status: outcome.status,
    totalOperations: execution.total_operations ?? 0,
    finishedOperations: execution.finished_operations ?? 0,
    lastStateSeq: execution.last_state_seq,
    version: execution.version,
  });
}

/** Least time that a healthy deployments service gets to answer, however late the execution came here. */
const LEAST_TELL_MS = 500;

/**
 * At the end of a forced cancel, tells deployments and cancels executions on components, in the time that is left; if it is not
 * enough, the end goes on without. Both run at the same time, since each may need all of the time. Returns whether deployments was
 * told.
 */
async function toldWithin(
  deps: EndExecutionDeps,
  execution: TimedExecution,
  outcome: Outcome,
  leftMs: number,
): Promise<boolean> {
  const isDone = (work: () => Promise<unknown>, orElse: string) =>
    isDoneWithin(leftMs, work, (err) => deps.log.warn({ executionId: execution.id, err }, orElse));
  const [isTold] = await Promise.all([
    isDone(
      () => tellDeployments(deps, execution, outcome),
      'a cancelled execution ends before its states are delivered',
    ),
    outcome.status === 'cancelled' &&
      isDone(
        () => cancelComponents(deps, execution, modeOf(execution.status)),
        'executions of components may not be cancelled',
      ),
  ]);
  return isTold;
}

/**
 * Runs `work` within the time that is left, and returns whether it was done. Work that fails earlier is tried again until then. A
 * call has a longer deadline than that, so a call under way is not awaited but left to itself: all of the work may be repeated.
 */
async function isDoneWithin(
  leftMs: number,
  work: () => Promise<unknown>,
  onUndone: (err: unknown) => void,
): Promise<boolean> {
  const limitMs = Math.max(leftMs, LEAST_TELL_MS);
  let failure: unknown = new Error(`not done within ${limitMs} ms`);
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      isOver = true;
      resolve(false);
    }, limitMs);
  });
  const done = async (): Promise<boolean> => {
    for (let attempt = 1; !isOver; attempt++) {
      try {
        await work();
        return true;
      } catch (err) {
        failure = err;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt)).unref());
      }
    }
    return false;
  };
  const isDone = await Promise.race([done(), over]);
  clearTimeout(timer);
  if (!isDone) onUndone(failure);
  return isDone;
}

/**
 * Returns whether the end of this execution has follow-ups that must not be lost with this process
 * (engine/messages/on-execution-finished.ts). The follow-ups of every end are done after each end (after-ends.ts).
 */
const isEndOwed = (execution: TimedExecution): boolean =>
  execution.parent_id !== null ||
  execution.execution_group_id !== null ||
  execution.workflow_id === DELETE_WORKFLOW;

function finishedMessage(execution: TimedExecution, status: Outcome['status']) {
  const about = { tenant: execution.tenant, key: execution.id };
  return unsent(
    outgoing(executionFinished, about, {
      executionId: execution.id,
      deploymentId: execution.deployment_id ?? '',
      workflowId: execution.workflow_id,
      status,
      executionGroupId: execution.execution_group_id ?? undefined,
      parentExecutionId: execution.parent_id ?? undefined,
    }),
  );
}
