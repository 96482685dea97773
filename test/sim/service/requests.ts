import { executionAccepted, executionRequested } from '@baton/contracts';
import { outgoing, unsent } from '@baton/postgres';
import { cancelExecution } from '../../../services/executions/src/engine/commands/cancel-execution';
import { resumeExecution } from '../../../services/executions/src/engine/commands/resume-execution';
import { setStatus } from '../../../services/executions/src/engine/commands/set-status';
import { reportSystemExecution } from '../../../services/executions/src/executions/commands/report-system-execution';
import { parametersOf, stateBefore, WORKFLOWS } from '../simulate';
import { randomModel } from '../topology';
import { askAt, askOne, newClient } from './clients';
import { lockRow } from './database';
import { executionIdOf, newExecution, newGroup, observed } from './executions';
import { newProcess, type Simulation } from './simulation';
import { isWide, STARTS } from './store/queue.sql';

/** Resumes are sent in the second half of the troubled time. */
const RESUMES_FROM_MS = 20_000;

/** Creates an execution, and possibly a cancel and a resume of it, at random times. */
export function request(simulation: Simulation, i: number): void {
  const { world, database, deployments, looks } = simulation;
  const { random } = world;
  const workflow = random.pick(WORKFLOWS);
  const state = stateBefore(random, workflow);
  const parameters = parametersOf(random, workflow);
  const id = executionIdOf(i);
  deployments.models.set(id, randomModel(random, state));
  world.at(random.below(500), () => {
    const execution = newExecution(id, workflow, parameters);
    database.executions.set(id, execution);
    looks.set(id, observed(execution));
    const isDrivenHere = random.chance(0.5);
    const message = unsent(
      outgoing(
        isDrivenHere ? executionAccepted : executionRequested,
        { tenant: 'default_tenant', key: id },
        {
          executionId: id,
          deploymentId: id,
          workflowId: workflow,
        },
      ),
    );
    database.outbox.set(message.id, { ...message, time: new Date(database.nowMs()).toISOString() });
    // The engine that accepted the execution drives it, unless it dies before.
    if (isDrivenHere && random.chance(0.7)) askAt(simulation, world.now, async (deps) => deps.wake.drive(id));
  });
  if (random.chance(0.35)) {
    const mode = random.pick(['cancel', 'force-cancel', 'kill'] as const);
    const at = random.below(random.chance(0.5) ? 8_000 : 1_500);
    cancelAt(simulation, id, at, mode);
    // While operations of the execution still run, or their answers are on the way.
    if (random.chance(0.6)) resumeAt(simulation, id, random.chance(0.3), at + random.below(4_000));
  }
  if (random.chance(0.5)) resumeAt(simulation, id, random.chance(0.5));
  if (random.chance(0.15)) setStatusAt(simulation, id, random.below(8_000), random.pick(SET));
}

/** Statuses that clients set on a running execution. */
const SET = ['failed', 'terminated', 'cancelled', 'cancelling', 'force_cancelling'] as const;

/** Sets the status once. An earlier cancel may then end with this status. */
function setStatusAt(simulation: Simulation, id: string, at: number, status: (typeof SET)[number]): void {
  const { endedByClient, killed, world } = simulation;
  askAt(simulation, at, async (deps) => {
    endedByClient.add(id);
    await setStatus(deps, id, status, 'set by a client');
    if (status === 'force_cancelling' && !killed.has(id)) killed.set(id, world.now);
  });
}

/** Workflows that can be repeated: each fits the state that any of them leaves. */
const REPEATABLE = ['restart', 'reinstall', 'check_status', 'check_drift', 'heal'];
/** Two groups, so that their members compete for the manager's limit. */
const GROUPS = ['group-1', 'group-2'];

/** Share of queued executions that first wait for a scheduled time. */
const SCHEDULED = 0.25;

/** Enqueues a system-wide execution, which must run alone. Its executor reports its end until the report is received. */
export function enqueueWide(simulation: Simulation, i: number): void {
  const { world, database, looks } = simulation;
  const id = `wide-${i}`;
  world.at(world.random.below(12_000), () => {
    const execution = newExecution(id, 'restore_snapshot', {}, { deployment: null, group: null });
    database.executions.set(id, execution);
    looks.set(id, observed(execution));
  });
  const carry = async (): Promise<void> => {
    for (let row = database.executions.get(id)?.row; row?.phase !== 'ended'; ) {
      await world.pause(1_500);
      row = database.executions.get(id)?.row;
      if (row?.phase !== 'running') continue;
      const end = { executionId: id, batchId: '', log: [], endStatus: 'terminated', error: '' };
      await askOne(simulation, (deps) => reportSystemExecution(deps, end));
    }
  };
  world.start(newProcess(`carrier-${id}`, (process) => world.spawn(process, carry)));
}

/** Enqueues an execution that waits for its deployment, its group and the limit; it may be cancelled before its turn. */
export function enqueue(simulation: Simulation, i: number): void {
  const { world, database, deployments, looks } = simulation;
  const { random } = world;
  const id = executionIdOf(i);
  const deployment = `deployment-${random.below(3)}`;
  if (!deployments.models.has(deployment)) deployments.models.set(deployment, randomModel(random, 'started'));
  const group = random.chance(0.6) ? random.pick(GROUPS) : null;
  const workflow = random.pick(REPEATABLE);
  const parameters = { ignore_failure: random.chance(0.3) };
  world.at(random.below(500), () => {
    if (group) {
      const known = database.groups.get(group);
      database.groups.set(group, { ...(known ?? newGroup(group, random.pick([1, 2]))), has_queued: true });
    }
    const at = group === null && random.chance(SCHEDULED) ? Date.now() + random.below(10_000) : undefined;
    const execution = newExecution(id, workflow, parameters, { deployment, group, at });
    database.executions.set(id, execution);
    looks.set(id, observed(execution));
  });
  if (simulation.maxConcurrent > 1 && group === null && random.chance(0.3)) resumeAt(simulation, id, false);
  if (simulation.maxConcurrent > 1) startBeside(simulation, `direct-${i}`, deployment);
  if (random.chance(0.3))
    cancelAt(
      simulation,
      id,
      600 + random.below(8_000),
      random.pick(['cancel', 'force-cancel', 'kill'] as const),
    );
}

/** Sends a cancel once; an accepted cancel must take effect. */
export function cancelAt(
  simulation: Simulation,
  id: string,
  at: number,
  mode: 'cancel' | 'force-cancel' | 'kill',
): void {
  const { world, database, cancelled, killed, stopAsked } = simulation;
  askAt(simulation, at, async (deps) => {
    if (mode !== 'cancel') stopAsked.add(id);
    await cancelExecution(deps, id, mode);
    // A kill of a failed execution stops the runs that workers still have, and keeps its status.
    const hasFailed = mode === 'kill' && database.executions.get(id)?.row.status === 'failed';
    if (!hasFailed) cancelled.add(id);
    if (mode !== 'cancel' && !killed.has(id)) killed.set(id, world.now);
  });
}

/** Sends a resume once; in the second half of the troubled time, unless `at` is given. */
export function resumeAt(
  simulation: Simulation,
  id: string,
  isForced: boolean,
  at = RESUMES_FROM_MS + simulation.world.random.below(15_000),
): void {
  if (isForced) simulation.forced.add(id);
  askAt(simulation, at, (deps) => resumeExecution(deps, id, isForced));
}

/** Starts an execution without queueing, like the statement of an accepted request: under the guard lock, if nothing blocks it. */
export function startBeside(
  { world, database, looks }: Simulation,
  id: string,
  deployment: string,
  at = 500 + world.random.below(15_000),
): void {
  const client = newClient({ world }, id);
  world.at(at, () =>
    world.spawn(client, async () => {
      const start = await lockRow(database, STARTS, true);
      const release = await lockRow(database, `guard default_tenant ${deployment}`);
      const isFree = [...database.executions.values()].every(
        ({ row }) =>
          !isWide(row) &&
          (row.deployment_id !== deployment ||
            (row.phase === 'ended' && !row.has_left_runs) ||
            row.phase === 'waiting'),
      );
      if (isFree) {
        const execution = newExecution(id, 'restart', {}, { deployment, group: null });
        execution.row = { ...execution.row, status: 'pending', phase: 'planning' };
        database.executions.set(id, execution);
        looks.set(id, observed(execution));
        database.onCommit(execution, false);
      }
      release();
      start();
    }),
  );
}
