import { executionRequested } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { outgoing, unsent } from '@baton/postgres';
import { cancelExecution } from '../../../services/executions/src/commands/cancel-execution';
import { resumeExecution } from '../../../services/executions/src/commands/resume-execution';
import type { EngineDeps } from '../../../services/executions/src/engine/deps';
import { parametersOf, stateBefore, WORKFLOWS } from '../simulate';
import { randomModel } from '../topology';
import { lockRow } from './database';
import { newExecution, newGroup, observed } from './executions';
import { call } from './peers';
import { newProcess, type Simulation } from './simulation';

/** Resumes come in the second half of the troubled time. */
const RESUMES_FROM_MS = 20_000;

/** A request, and perhaps a cancel and a resume of it, at random times. */
export function request(simulation: Simulation, i: number): void {
  const { world, database, deployments, fleet, looks } = simulation;
  const { random } = world;
  const workflow = random.pick(WORKFLOWS);
  const state = stateBefore(random, workflow);
  const parameters = parametersOf(random, workflow);
  const id = `execution-${i}`;
  deployments.models.set(id, randomModel(random, state));
  world.at(random.below(500), () => {
    const execution = newExecution(id, workflow, parameters);
    database.executions.set(id, execution);
    looks.set(id, observed(execution));
    const message = unsent(
      outgoing(
        executionRequested,
        { tenant: 'default_tenant', key: id },
        {
          executionId: id,
          deploymentId: id,
          workflowId: workflow,
        },
      ),
    );
    database.outbox.set(message.id, { ...message, time: new Date(database.nowMs()).toISOString() });
  });
  const client = newProcess(`client-${newId()}`, () => undefined);
  world.start(client);
  const ask = (at: number, what: (deps: EngineDeps) => Promise<void>) =>
    world.at(at, () =>
      world.spawn(client, () => call(world, fleet.engines, (engine) => what(fleet.depsOf(engine)))),
    );
  if (random.chance(0.35)) {
    const mode = random.pick(['cancel', 'force-cancel', 'kill'] as const);
    cancelAt(simulation, id, random.below(random.chance(0.5) ? 8_000 : 1_500), mode);
  }
  if (random.chance(0.5))
    ask(RESUMES_FROM_MS + random.below(15_000), async (deps) => void (await resumeExecution(deps, id, true)));
}

/** Workflows that fit what each of them leaves. */
const REPEATABLE = ['restart', 'reinstall', 'check_status', 'check_drift', 'heal'];
/** Two: their members compete for the manager's room. */
const GROUPS = ['group-1', 'group-2'];

/** An execution that waits for its deployment, for its group and for room; perhaps it is cancelled before its turn. */
export function enqueue(simulation: Simulation, i: number): void {
  const { world, database, deployments, looks } = simulation;
  const { random } = world;
  const id = `execution-${i}`;
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
    const execution = newExecution(id, workflow, parameters, { deployment, group });
    database.executions.set(id, execution);
    looks.set(id, observed(execution));
  });
  if (simulation.maxConcurrent > 1) startBeside(simulation, `direct-${i}`, deployment);
  if (random.chance(0.3))
    cancelAt(
      simulation,
      id,
      600 + random.below(8_000),
      random.pick(['cancel', 'force-cancel', 'kill'] as const),
    );
}

/** Asks once; what was accepted has to come true. */
export function cancelAt(
  { world, fleet, cancelled }: Simulation,
  id: string,
  at: number,
  mode: 'cancel' | 'force-cancel' | 'kill',
): void {
  const client = newProcess(`client-${newId()}`, () => undefined);
  world.start(client);
  world.at(at, () =>
    world.spawn(client, () =>
      call(world, fleet.engines, async (engine) => {
        await cancelExecution(fleet.depsOf(engine), id, mode);
        cancelled.add(id);
      }),
    ),
  );
}

/** A start that does not queue, as the statement of an accepted request has it: under the guard, when nothing is in its way. */
export function startBeside(
  { world, database, looks }: Simulation,
  id: string,
  deployment: string,
  at = 500 + world.random.below(15_000),
): void {
  const client = newProcess(`client-${id}`, () => undefined);
  world.start(client);
  world.at(at, () =>
    world.spawn(client, async () => {
      const release = await lockRow(database, `guard default_tenant ${deployment}`);
      const isFree = [...database.executions.values()].every(
        ({ row }) => row.deployment_id !== deployment || row.phase === 'ended' || row.phase === 'waiting',
      );
      if (isFree) {
        const execution = newExecution(id, 'restart', {}, { deployment, group: null });
        execution.row = { ...execution.row, status: 'pending', phase: 'planning' };
        database.executions.set(id, execution);
        looks.set(id, observed(execution));
        database.onCommit(execution, false);
      }
      release();
    }),
  );
}
