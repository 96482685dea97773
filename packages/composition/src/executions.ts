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
  /** Name under which the execution is stored. */
  slot: string;
  deploymentId: string;
  workflowId: string;
  /** Additional fields of the request. */
  request?: JsonObject;
  /** Whether events of the execution are written into the log of this operation. */
  isLogged: boolean;
  /** Seconds; -1 = no limit. */
  timeout: number;
  /** Seconds. */
  interval: number;
  /** Whether a failure of the execution does not fail the operation: the operation then checks the deployment instead. */
  mayFail?: boolean;
  /** Starts the execution in another way; returns its id. */
  start?: (idempotencyKey: string) => Promise<string>;
  /** Instance whose runtime properties count the redirected events; default: the instance of the operation. */
  eventsOf?: InstanceContext;
}

const ACTIVE = ['pending', 'started', 'queued', 'cancelling', 'force_cancelling', 'kill_cancelling'];
/** Maximum seconds between checks; the end of an execution of this manager is reported at once. */
const LOOK_SECONDS = 10;
const UNLOGGED_LOOK_SECONDS = 60;

/**
 * Runs a workflow and returns when it has ended successfully; until then the operation leaves its worker and is run
 * again. Safe to repeat at any time: the started execution is stored, and a start that was not stored is repeated with
 * the same idempotency key. After a crash after the start the next run finds the execution by this key. After a resume
 * of the parent a failed or cancelled execution is resumed.
 * @throws FatalError when it failed or was cancelled (unless the parent is being cancelled too), or exceeds its time
 * limit.
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

/** Returns the marker of an execution for which the wait begins now. */
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
    // Another execution was started between the check and this start.
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

/** Waits for a running execution of `manager`: always throws. */
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

/** Only executions of this manager and tenant report their end. */
function untilEnd(manager: Manager, id: string): { untilExecution?: string } {
  return manager.isExternal ? {} : { untilExecution: id };
}

/** The parent was resumed, so the failed execution is resumed too. It may have been resumed already. */
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

/**
 * Whether the parent stopped without a run of this operation (a cancel also cancels its components), and was resumed
 * after the end.
 */
function hasResumedSince(parent: Parent, { ended_at: end }: Execution): boolean {
  return !!parent.started_at && !!end && Date.parse(parent.started_at) > Date.parse(end);
}

function isCancelled({ status }: Parent): boolean {
  return ['cancelled', 'cancelling', 'force_cancelling', 'kill_cancelling'].includes(status ?? '');
}

const notReady = (deploymentId: string, until: { untilExecution?: string; checkAfter: number }): Error =>
  new OperationDeferred(`The "${deploymentId}" deployment is not ready for execution.`, until);

/**
 * Defers the operation while an execution of the deployment runs or is queued; scheduled executions do not count.
 * `most`: maximum seconds until the next check.
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

/** Waits for an execution that another caller has started; returns once it has terminated. @throws FatalError */
export async function untilTerminated(scope: Scope, id: string, run: Run): Promise<void> {
  const known = readMarker(scope.instance, run.slot);
  const marker = known?.id === id ? known : markerOf(scope, run, id);
  await follow(scope, run, marker);
}
