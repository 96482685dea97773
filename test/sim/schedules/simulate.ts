import '../service/substitute';
import type { Envelope } from '@baton/contracts';
import { isAppError, isoInstant } from '@baton/kernel';
import type { DeploymentModel, NodeInstance, PlanNode } from '@baton/task-graph';
import { setStatus } from '../../../services/executions/src/engine/commands/set-status';
import { onExecutionRequested } from '../../../services/executions/src/engine/messages/on-execution-requested';
import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import {
  type ScheduleDeps,
  updateSchedule,
} from '../../../services/executions/src/schedules/commands/put-schedule';
import type { ScheduleRow } from '../../../services/executions/src/schedules/domain/schedule';
import { specReading } from '../../../services/executions/src/schedules/domain/schedule-input';
import { type Random, seededRandom } from '../random';
import { askAt, askOne } from '../service/clients';
import { type MemoryDatabase, newDatabase } from '../service/database';
import { MESSAGES, newEngine, relay, startLoops } from '../service/engine';
import { type DeploymentsPeer, newDeployments, publishTo } from '../service/peers';
import { newProcess, type Simulation } from '../service/simulation';
import { newVirtualWorld, QUIET, type VirtualProcess, type VirtualWorld } from '../service/virtual';
import type { SimulationResult } from '../simulate';
import { judgeDecision, judgeSchedules, judgeStart, type Planned } from './judge';

const TROUBLED_MS = 150_000;
const HEALED_MS = 100_000;
const JUMPS = [20_000, 90_000, 200_000, -20_000, -90_000, -200_000];
const STEPS = [
  { recurrence: '5 sec', stepMs: 5_000 },
  { recurrence: '12 sec', stepMs: 12_000 },
  { recurrence: '1 min', stepMs: 60_000 },
];

interface World {
  world: VirtualWorld;
  database: MemoryDatabase;
  deployments: DeploymentsPeer;
  fleet: Pick<Simulation['fleet'], 'engines' | 'depsOf'>;
  planned: Planned[];
  breaches: string[];
  latestMs: number;
  /** The database clock did not advance evenly. */
  hasJumped: boolean;
}

/**
 * One world of schedules from one seed: replicas that fire them and may die at any await, a database whose clock jumps, clients
 * that change the schedules, and executions that end at random times. Then time to heal, and the judge's final check.
 */
export async function simulateSchedules(seed: number): Promise<SimulationResult> {
  const dice = seededRandom(seed * 15_485_863 + 11);
  const grade = dice.pick([0.3, 1]);
  const virtual = newVirtualWorld(seed, {
    crash: 0.002 * grade,
    lose: 0.05 * grade,
    duplicate: 0.1 * grade,
    commitRefused: 0.06 * grade,
    commitAnswerLost: dice.pick([0.02, 0.2]) * grade,
    pause: 0,
    stall: dice.pick([0, 0.02]) * grade,
  });
  try {
    const simulated = build(virtual, dice);
    const { world, database, planned, breaches } = simulated;
    plan(simulated, dice);
    const jumps = dice.below(4);
    for (let i = 0; i < jumps; i++)
      world.at(dice.below(TROUBLED_MS), () => {
        noteClock(simulated);
        database.skewMs += dice.pick(JUMPS);
        simulated.hasJumped = true;
        noteClock(simulated);
      });
    await world.runUntil(TROUBLED_MS);
    world.faults = QUIET;
    await world.runUntil(TROUBLED_MS + HEALED_MS);
    noteClock(simulated);
    judgeSchedules(database, planned, simulated, breaches);
    breaches.push(...world.surprises);
    const outcomes = [...database.occurrences.values()].map(({ outcome }) => outcome);
    const { steps, crashes } = world;
    return { seed, breaches, steps, crashes, runs: database.executions.size, statuses: outcomes };
  } finally {
    virtual.end();
  }
}

/** Notes the latest time that the database clock has shown. */
function noteClock(simulated: World): void {
  simulated.latestMs = Math.max(simulated.latestMs, simulated.database.nowMs());
}

function build(world: VirtualWorld, dice: Random): World {
  const breaches: string[] = [];
  const database = newDatabase(world, {
    onCommit(after) {
      if (after.row.version > 0 || after.events.length > 0 || ended.has(after.row.id)) return;
      ended.add(after.row.id);
      judgeStart(database, after, breaches);
      endSomeTime(simulated, after.row.id);
    },
    onDecided: (occurrence) => judgeDecision(database, occurrence, simulated.hasJumped, breaches),
    onSent: (messages) => messages.forEach((message) => publish(message)),
    onQueueRead: () => undefined,
    onCounted: () => undefined,
    onExpiredRead: async () => undefined,
    commitMs: 1,
  });
  const ended = new Set<string>();
  const awayFrom = dice.below(60_000);
  const away = dice.chance(0.5) ? { from: awayFrom, until: awayFrom + 70_000 } : { from: 0, until: 0 };
  const slow = dice.pick([0, 0.1]);
  const deployments = newDeployments(world, { away, slow, slowMs: 8_000 }, () => true);
  const replicas = new Map<VirtualProcess, EnginePorts>();
  const publish = (envelope: Envelope): void => {
    if (envelope.type !== MESSAGES.requested) return;
    publishTo(world, engines, envelope, async (to, one) => {
      await onExecutionRequested(replicas.get(to)!)(one as Envelope<{ executionId: string }>).catch(mayFail);
    });
  };
  const engines = ['engine-1', 'engine-2'].map((name) =>
    newProcess(name, (process) =>
      world.spawn(process, async () => {
        const deps = newEngine(world, database, deployments, { publish, maxConcurrent: 100, retryMs: 40 });
        replicas.set(process, deps);
        startLoops(world, deps, (work) => world.spawn(process, work));
        await relay(world, database, publish);
      }),
    ),
  );
  const fleet = { engines, depsOf: (engine: VirtualProcess) => replicas.get(engine)! };
  const simulated: World = {
    world,
    database,
    deployments,
    fleet,
    planned: [],
    breaches,
    latestMs: 0,
    hasJumped: false,
  };
  for (const process of engines) world.start(process);
  return simulated;
}

function mayFail(error: unknown): void {
  if (!isAppError(error)) throw error;
}

/** Creates schedules of some deployments; clients change some of them. */
function plan(simulated: World, dice: Random): void {
  const { database, deployments, planned } = simulated;
  for (let i = 0; i < 4; i++) {
    const key = `5c000000-0000-7000-8000-00000000000${i}`;
    const deployment = `deployment-${dice.below(2)}`;
    deployments.models.set(deployment, oneNode());
    const { recurrence, stepMs } = dice.pick(STEPS);
    const count = dice.pick([null, null, 6]);
    const sinceMs = database.nowMs() + 1_000 * (1 + dice.below(20));
    const isStopping = dice.chance(0.2);
    database.schedules.set(key, {
      ...scheduleOf(key, deployment, isoInstant(database.nowMs())),
      since: isoInstant(sinceMs),
      next_occurrence: isoInstant(sinceMs),
      rule: { recurrence, count, weekdays: null },
      stop_on_fail: isStopping,
    });
    const one: Planned = { key, sinceMs, stepMs, count, isWhole: !isStopping };
    planned.push(one);
    for (let change = dice.below(3); change > 0; change--) {
      const body = dice.pick([{ slip: 0 }, { slip: 1 }, { enabled: false }, { enabled: true }]);
      if ('enabled' in body) one.isWhole = false;
      askAt(asked(simulated), dice.below(TROUBLED_MS), (deps) =>
        updateSchedule({ ...deps, wire: specReading } as ScheduleDeps, key, key, body).then(() => undefined),
      );
    }
  }
}

const asked = ({ world, fleet }: World) => ({ world, fleet }) as Pick<Simulation, 'world' | 'fleet'>;

/** There are no workers here: a client sets the final status of the execution until it is accepted. */
function endSomeTime(simulated: World, id: string): void {
  const { world, database } = simulated;
  const { random } = world;
  const status = random.pick(['terminated', 'terminated', 'failed'] as const);
  const at = world.now + random.below(random.chance(0.7) ? 4_000 : 40_000);
  const client = newProcess(`ends-${id}`, (process) =>
    world.spawn(process, async () => {
      while (database.executions.get(id)!.row.phase !== 'ended') {
        await askOne(asked(simulated), (deps) => setStatus(deps, id, status, ''));
        await world.pause(1_000);
      }
    }),
  );
  world.at(at, () => world.start(client));
}

function scheduleOf(key: string, deployment: string, now: string): ScheduleRow {
  return {
    key,
    tenant: 'default_tenant',
    deployment_id: deployment,
    deployment_made_by: null,
    id: key,
    workflow_id: 'restart',
    parameters: null,
    execution_arguments: {},
    since: null,
    until: null,
    rule: { recurrence: null, count: 1, weekdays: null },
    slip_minutes: 0,
    stop_on_fail: false,
    enabled: true,
    next_occurrence: null,
    latest_execution_id: null,
    visibility: 'tenant',
    created_by: 'admin',
    created_at: now,
  };
}

/** Returns a deployment with a single operation. */
function oneNode(): DeploymentModel {
  const operation = { plugin: 'probe', operation: 'probe.op', executor: 'host_agent', inputs: {} };
  const node = {
    id: 'n',
    type: 'node',
    type_hierarchy: ['cloudify.nodes.Root', 'node'],
    properties: {},
    operations: { 'cloudify.interfaces.lifecycle.stop': operation },
    relationships: [],
    number_of_instances: 1,
  };
  const instance = { id: 'n_1', node_id: 'n', state: 'started', relationships: [], system_properties: {} };
  return {
    nodes: [node as unknown as PlanNode],
    nodeInstances: [instance as unknown as NodeInstance],
  };
}
