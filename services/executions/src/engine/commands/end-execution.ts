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
 * Ends an execution whose outcome is decided: what its stages have started and still runs is cancelled unless it
 * succeeded, and what runs on its components when it was cancelled; its last states reach deployments first, so that
 * whoever sees the end sees its effects; then status, terminal event and message in one transaction. A forced cancel does
 * not wait for deployments longer than its limit: states and end follow later (engine/loops/engine.loops.ts). Null: the row has
 * moved on.
 */
export async function endExecution(
  deps: EndExecutionDeps,
  execution: TimedExecution,
): Promise<TimedExecution | null> {
  const outcome = execution.outcome!;
  if (outcome.status !== 'terminated') await cancelNested(deps, execution.id);
  // Where a client has said since that it terminated, deployments is asked whether it has.
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
    // What deployments may not have heard is owed to it (tell-owed-ends.ts).
    wakeAt: isTold ? null : isoInstant(execution.now_ms),
    events: [workflowEvent(execution, EVENT_OF[outcome.status], outcome.error)],
    // What deployments has is forgotten in the same step.
    deliveredSeq: isTold ? execution.last_state_seq : 0,
    outbox: isEndOwed(execution) ? [finishedMessage(execution, outcome.status)] : [],
  };
  const row = await deps.turns.take(execution.id, () => deps.steps.write(write));
  if (!row) {
    // Whoever has moved the row on has the one that counts, and tells it with a later version.
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
 * Tells deployments, which may find that it has failed all the same: then that is decided, on a version of its own, before it
 * is told. Null: it stays as it is.
 */
async function toldOutcome(deps: EndExecutionDeps, execution: TimedExecution): Promise<Outcome | null> {
  const failure = await tellDeployments(deps, execution, execution.outcome!);
  return failure === '' ? null : { ...execution.outcome!, status: 'failed', error: failure };
}

/** The row with another outcome, which the next turn tells and ends with. Null: it has moved on. */
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
 * Delivers the last states, whose rows stay for the step that ends it, and tells the end; both may be repeated. It is told with
 * the version of the row on which it was decided, and deployments takes none that is older than what it shows: so the end that
 * counts is shown in whatever order two of them come. Answers why it has failed all the same; '': it has not.
 */
export async function tellDeployments(
  deps: EndExecutionDeps,
  execution: TimedExecution,
  outcome: Pick<Outcome, 'status'>,
): Promise<string> {
  await deliverDecided(deps, execution);
  // A dry run says nothing about the deployment, and must not be taken for its deletion.
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

/** The least that a deployments service which is well gets, however late the execution came here. */
const LEAST_TELL_MS = 500;

/**
 * The end of a forced cancel tells deployments and cancels what runs on components in the time that is left, or goes on
 * without. Beside each other, for each may need all of it. False: not told.
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
 * Whether work was done in the time that is left; what fails at once is tried again until then. A call has a deadline that is
 * longer than that, so it is not waited for but left to itself: all of it may be repeated.
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
 * Whether its end has work of its own that must not be lost with this process (engine/messages/on-execution-finished.ts); what any
 * end makes room for is looked for after each (after-ends.ts).
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
