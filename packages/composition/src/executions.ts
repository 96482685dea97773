import type { AnswerOf } from '@baton/client';
import type { JsonObject } from '@baton/kernel';
import { FatalError, type InstanceContext, OperationDeferred } from '@baton/plugin-sdk';
import { isRefusal } from './failures';
import type { Manager } from './manager';
import { leftMs, lookAfter, type Marker, nextOf, readMarker, startKey, writeMarker } from './marker';
import { redirectEvents } from './redirect-events';
import type { Scope } from './scope';
import { save } from './state';

export type Execution = AnswerOf<'getExecution'>;

/** A workflow of another deployment that an operation runs and waits for. */
export interface Run {
  /** Under which name it is remembered. */
  slot: string;
  deploymentId: string;
  workflowId: string;
  /** Further members of the request. */
  request?: JsonObject;
  /** Whether its events are written into the log of this operation. */
  isLogged: boolean;
  /** Seconds; -1 = without limit. */
  timeout: number;
  /** Seconds. */
  interval: number;
  /** Whether its failure is nothing that the operation fails of: it looks at the deployment afterwards. */
  mayFail?: boolean;
  /** Starts it in another way; answers its id. */
  start?: (idempotencyKey: string) => Promise<string>;
  /** Whose runtime properties count the redirected events; default: the instance of the operation. */
  eventsOf?: InstanceContext;
}

const ACTIVE = ['pending', 'started', 'queued', 'cancelling', 'force_cancelling', 'kill_cancelling'];
/** At the latest; the end of an execution of this manager is told at once. */
const LOOK_SECONDS = 10;
const UNLOGGED_LOOK_SECONDS = 60;

/**
 * Runs a workflow and answers when it has ended well; until then the operation leaves its worker and comes back. Safe to
 * call again at any time: what it started is remembered, and a start that was not is repeated under the same key. Crash
 * after the start: the next run finds the execution by the key. After a resume of the parent a failed or cancelled one is
 * resumed.
 * @throws FatalError when it failed or was cancelled (unless the parent is being cancelled too), or takes too long.
 */
export async function runWorkflow(scope: Scope, run: Run): Promise<void> {
  const { ctx, instance } = scope;
  const marker = readMarker(instance, run.slot);
  const next = nextOf(marker, { workflowId: run.workflowId, parent: ctx.executionId, task: ctx.taskId });
  if (next === 'over') return;
  if (next === 'follow') return await follow(scope, run, marker!);
  await untilIdle(scope, run.deploymentId);
  ctx.logger.info(`Starting execution of "${run.workflowId}" for "${run.deploymentId}" deployment`);
  const id = await start(scope, run, marker);
  const made = markerOf(scope, run, id);
  writeMarker(instance, run.slot, made);
  await save(instance);
  await follow(scope, run, made);
}

/** Of an execution that is waited for from now on. */
function markerOf({ ctx, deps }: Scope, run: Run, id: string): Marker {
  return {
    id,
    workflow_id: run.workflowId,
    parent: ctx.executionId,
    task: ctx.taskId,
    since: deps.clock.now(),
    state: 'waiting',
  };
}

async function start(scope: Scope, run: Run, before: Marker | null): Promise<string> {
  const { ctx, manager } = scope;
  const key = startKey({ workflowId: run.workflowId, task: ctx.taskId, slot: run.slot }, before);
  try {
    if (run.start) return await run.start(key);
    const body = { ...run.request, deployment_id: run.deploymentId, workflow_id: run.workflowId };
    const { id } = await manager.client.call('startExecution', { body, idempotencyKey: key });
    return id!;
  } catch (error) {
    // Somebody was faster between the look and the start.
    if (isRefusal(error, 'existing_running_execution_error'))
      throw notReady(run.deploymentId, { checkAfter: 1 });
    throw error;
  }
}

async function follow(scope: Scope, run: Run, marker: Marker): Promise<void> {
  const { manager, instance } = scope;
  const { client } = manager;
  const execution: Execution = await client.call('getExecution', { params: { executionId: marker.id } });
  const hasMore = run.isLogged && (await redirectEvents(scope, marker.id, run.eventsOf ?? instance));
  const { status } = execution;
  const isOver = status === 'failed' || status === 'cancelled';
  if (status === 'terminated' || (isOver && run.mayFail)) {
    if (hasMore) throw moreEvents(marker.id);
    writeMarker(instance, run.slot, { ...marker, task: scope.ctx.taskId, state: 'done', since: null });
    return;
  }
  if (isOver) {
    const parent = await readParent(scope);
    if (marker.state === 'told' || hasResumedSince(parent, execution))
      return await resume(scope, run, marker);
    if (hasMore) throw moreEvents(marker.id);
    if (status === 'cancelled' && isCancelled(parent)) return;
    writeMarker(instance, run.slot, { ...marker, state: 'told', since: null });
    throw new FatalError(failureText(execution, run));
  }
  waitFor(scope, run, marker, run.timeout);
}

const moreEvents = (id: string): Error =>
  new OperationDeferred(`Reading events of execution ${id}`, { checkAfter: 1 });

function failureText({ id, status, error }: Execution, run: Run): string {
  const what = `Execution ${id} of workflow "${run.workflowId}" on deployment "${run.deploymentId}" ${status}.`;
  return error ? `${what} ${error}` : what;
}

/** Waits for an execution of `manager` that runs: always throws. */
function waitFor(scope: Scope, run: Run, marker: Marker, timeout: number): never {
  const { clock } = scope.deps;
  const since = marker.since ?? clock.now();
  const left = leftMs(since, clock.now(), timeout);
  if (left !== null && left <= 0) {
    writeMarker(scope.instance, run.slot, { ...marker, state: 'told', since: null });
    throw new FatalError(`Execution timed out after: ${timeout} seconds.`);
  }
  writeMarker(scope.instance, run.slot, { ...marker, state: 'waiting', since });
  const most = run.isLogged ? LOOK_SECONDS : UNLOGGED_LOOK_SECONDS;
  const usual = lookAfter(clock.now() - since, run.interval, most);
  const checkAfter = left === null ? usual : Math.min(usual, Math.max(1, Math.ceil(left / 1_000)));
  throw new OperationDeferred(
    `Waiting for execution ${marker.id} of "${run.workflowId}" on "${run.deploymentId}"`,
    {
      ...untilEnd(scope.manager, marker.id),
      checkAfter,
    },
  );
}

/** Only executions of this manager and tenant tell when they end. */
function untilEnd(manager: Manager, id: string): { untilExecution?: string } {
  return manager.isExternal ? {} : { untilExecution: id };
}

/** The parent was resumed: so is what failed. Somebody may have done it already. */
async function resume(scope: Scope, run: Run, marker: Marker): Promise<never> {
  scope.ctx.logger.info(`Resuming execution ${marker.id} of "${run.workflowId}" on "${run.deploymentId}"`);
  try {
    await scope.manager.client.call('actOnExecution', {
      params: { executionId: marker.id },
      body: { action: 'resume' },
    });
  } catch (error) {
    if (isRefusal(error, 'existing_running_execution_error'))
      throw notReady(run.deploymentId, { checkAfter: 1 });
    if (!isRefusal(error, 'conflict_error')) throw error;
  }
  return waitFor(scope, run, { ...marker, since: null }, run.timeout);
}

type Parent = Pick<Execution, 'status' | 'started_at'>;

async function readParent({ own, ctx }: Scope): Promise<Parent> {
  return await own.client.call('getExecution', {
    params: { executionId: ctx.executionId },
    query: { _include: 'id,status,started_at' },
  });
}

/** The parent stopped while nobody looked (a cancel takes its components along), and was resumed after the end. */
function hasResumedSince(parent: Parent, { ended_at: end }: Execution): boolean {
  return !!parent.started_at && !!end && Date.parse(parent.started_at) > Date.parse(end);
}

function isCancelled({ status }: Parent): boolean {
  return ['cancelled', 'cancelling', 'force_cancelling', 'kill_cancelling'].includes(status ?? '');
}

const notReady = (deploymentId: string, until: { untilExecution?: string; checkAfter: number }): Error =>
  new OperationDeferred(`The "${deploymentId}" deployment is not ready for execution.`, until);

/**
 * Comes back later while an execution of the deployment runs or is queued. Scheduled ones are for another day. `most`:
 * seconds until the next look at the latest.
 */
export async function untilIdle(scope: Scope, deploymentId: string, most = LOOK_SECONDS): Promise<void> {
  const { items } = await scope.manager.client.call('listExecutions', {
    query: {
      deployment_id: deploymentId,
      status: ACTIVE,
      _include_system_workflows: true,
      _include: 'id,status',
      _size: 1,
    },
  });
  const id = items[0]?.id;
  if (id) throw notReady(deploymentId, { ...untilEnd(scope.manager, id), checkAfter: most });
}

/** Waits for an execution that somebody else has started; answers once it has terminated. @throws FatalError */
export async function untilTerminated(scope: Scope, id: string, run: Run): Promise<void> {
  const known = readMarker(scope.instance, run.slot);
  const marker = known?.id === id ? known : markerOf(scope, run, id);
  await follow(scope, run, marker);
}
