import './substitute';
import type { Envelope } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import type { GraphState } from '@baton/task-graph';
import { reapLeases } from '../../../services/executions/src/engine/commands/reap-leases';
import { onExecutionRequested } from '../../../services/executions/src/engine/messages/on-execution-requested';
import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import { startGroupMembers } from '../../../services/executions/src/groups/commands/start-group-members';
import type { ExecutionRow } from '../../../services/executions/src/store/rows';
import { newOracle } from '../oracle';
import { seededRandom } from '../random';
import type { SimulationResult } from '../simulate';
import { askAt } from './clients';
import { type Conditions, conditionsOf } from './conditions';
import { type MemoryExecution, newDatabase } from './database';
import { newDecidedStates } from './decided-states';
import { MESSAGES, newEngine, relay, startLoops } from './engine';
import { executionIdOf, observed } from './executions';
import {
  isOver,
  judge,
  judgeGoingOn,
  judgeGrace,
  judgeHolders,
  judgeShown,
  judgeTimers,
  judgeWake,
} from './judge';
import { newDeployments, publishTo, publishToAll, publishToDeployments } from './peers';
import { newQueueOracle } from './queue-oracle';
import { cancelAt, enqueue, enqueueWide, request, resumeAt, startBeside } from './requests';
import { runOutcomes } from './run-outcomes';
import { newProcess, type Simulation, TROUBLED_MS } from './simulation';
import { newVirtualWorld, QUIET, type VirtualProcess, type VirtualWorld } from './virtual';
import { beat, type Fleet, type Hands, newHands, stopRuns, wakeWorker } from './worker';

const HEALED_MS = 1_200_000;
/** Share of ends after which all replicas check the queue at once. */
const ALL_LOOK = 0.5;
/** Share of executions that are overtaken: another one begins while they leave the queue. */
const OVERTAKEN = 0.3;
/** Share of counts of executions at work during which a request starts members of a group. */
const COUNTED_BESIDE = 0.2;
/** Share of reads of expired leases beside which another replica reads them as well, and the maximum delay of the first replica. */
const REAPED_BESIDE = 0.3;
const REAPED_LATE_MS = 3_000;
/** Share of ends with a cancel at the moment when the end is decided but not yet written. */
const LATE_CANCELS = 0.15;

/**
 * One world from one seed around the production engine: its commands, step writer, graph memory, wake-ups and loops. First a time
 * of faults, then time to heal, then the oracle's final check.
 */
export async function simulateService(seed: number): Promise<SimulationResult> {
  const dice = seededRandom(seed * 104_729 + 3);
  const conditions = conditionsOf(dice);
  const world = newVirtualWorld(seed, conditions.faults);
  try {
    const simulation = build(world, seed, conditions);
    const { executions, maxConcurrent, isWide } = conditions;
    for (let i = 0; i < executions; i++)
      if (maxConcurrent === null) request(simulation, i);
      else enqueue(simulation, i);
    if (maxConcurrent !== null && isWide) enqueueWide(simulation, 0);
    cancelWhileAway(simulation, conditions);
    await world.runUntil(TROUBLED_MS);
    world.faults = QUIET;
    const isToGoOn = () => world.now < TROUBLED_MS + HEALED_MS && !isOver(simulation);
    do {
      while (isToGoOn()) await world.runUntil(world.now + 5_000);
      // Late reports and messages must change nothing; a late resume does.
      await world.runUntil(world.now + 30_000);
    } while (isToGoOn());
    judge(simulation);
    return resultOf(simulation, seed);
  } finally {
    world.end();
  }
}

function resultOf({ world, oracle, fleet, database }: Simulation, seed: number): SimulationResult {
  return {
    seed,
    breaches: oracle.breaches,
    steps: world.steps,
    crashes: world.crashes,
    runs: fleet.ledger.length,
    shared: database.shared,
    statuses: [...database.executions.values()].map(({ row }) => `${row.workflow_id}:${row.status}`),
  };
}

function build(world: VirtualWorld, seed: number, conditions: Conditions): Simulation {
  const { engines: names, commitMs, maxConcurrent, resumedAtOnce } = conditions;
  const oracle = newOracle();
  const states = newDecidedStates(
    () => database,
    () => deployments,
  );
  const looks: Simulation['looks'] = new Map();
  const forced = new Set<string>();
  const queue =
    maxConcurrent === null ? null : newQueueOracle(() => database, maxConcurrent, forced, oracle.breaches);
  const database = newDatabase(world, {
    onCommit(after, isResume) {
      const forgotten = states.note(after);
      if (forgotten !== null) oracle.breaches.push(forgotten);
      judgeWake(after, oracle.breaches);
      judgeHolders(after, oracle.breaches);
      judgeShown(simulation, after, oracle.breaches);
      judgeGrace(simulation, after);
      noteKills(simulation, after);
      const before = looks.get(after.row.id)!;
      const now = observed(after);
      looks.set(after.row.id, now);
      oracle.onCommit(before, now, isResume);
      queue?.onCommit(after.row, isResume);
      const isEnding = after.row.phase === 'ending' && after.row.outcome?.status === 'terminated';
      if (isEnding && world.random.chance(LATE_CANCELS)) {
        cancelAt(simulation, after.row.id, world.now, 'cancel');
        if (world.random.chance(0.5))
          cancelAt(simulation, after.row.id, world.now + world.random.below(3_000), 'kill');
      }
      if (isResume) simulation.resumed.add(after.row.id);
      if (after.row.phase === 'ended' && before.status !== after.row.status)
        onEnd(simulation, after, resumedAtOnce);
    },
    onSent: (messages) => {
      queue?.onSent(messages);
      sendFromMemory(simulation, messages);
    },
    onQueueRead: (heads) => overtake(simulation, heads),
    onCounted: () => startMembersBeside(simulation),
    onExpiredRead: () => reapBeside(simulation),
    commitMs,
  });
  const deployments = newDeployments(world, conditions, states.areApplied);
  const replicas = new Map<VirtualProcess, EnginePorts>();
  const engines = names.map((name) => newProcess(name, (process) => bootEngine(simulation, process)));
  const fleet: Fleet = {
    world,
    engines,
    depsOf: (engine) => replicas.get(engine)!,
    ledger: [],
    runOf: ({ executionId, taskId, attempt }) => {
      const { tasks, graphs } = database.executions.get(executionId)!;
      const task = tasks.get(taskId)!;
      const graph = graphs.find(({ id }) => id === task.graph_id)!.name;
      return { execution: executionId, graph, idx: task.idx, attempt };
    },
    outcomeOf: runOutcomes(seed, conditions, database),
    taken: new Set(),
    isCurrent: ({ executionId, taskId }) => {
      const { row, tasks } = database.executions.get(executionId)!;
      return tasks.get(taskId)?.graph_id === row.graph_id;
    },
    lost: (execution, text) => {
      if (!simulation.resumed.has(execution)) oracle.breaches.push(`${execution}: ${text}`);
    },
  };
  const simulation: Simulation = {
    world,
    database,
    deployments,
    states,
    oracle,
    fleet,
    replicas,
    looks,
    cancelled: new Set(),
    killed: new Map(),
    stopAsked: new Set(),
    killedRuns: new Set(),
    endedByClient: new Set(),
    resumed: new Set(),
    forced,
    endedMs: new Map(),
    wronglyShown: new Map(),
    retryMs: conditions.retryMs,
    announced: new Set(),
    maxConcurrent: maxConcurrent ?? 100,
    isCalm: world.faults.crash === 0,
  };
  const workers = ['worker-1', 'worker-2', 'worker-3'].map((name) =>
    newProcess(name, (process) => bootWorker(simulation, process)),
  );
  workersOf.set(simulation, { processes: workers, hands: new Map() });
  for (const process of [...engines, ...workers]) world.start(process);
  watchMemory(simulation);
  return simulation;
}

/** Cancels executions by force just after they decided states, while deployments is away. */
function cancelWhileAway(simulation: Simulation, { away, executions }: Conditions): void {
  const { random } = simulation.world;
  for (let i = 0; away.until > 0 && i < executions; i++)
    if (random.chance(0.5))
      cancelAt(
        simulation,
        executionIdOf(i),
        away.from + 100 + random.below(900),
        random.pick(['kill', 'force-cancel'] as const),
      );
}

/** Share of kills that are taken back while workers are about to stop their runs. */
const TAKEN_BACK = 0.5;
/** Maximum of resumes: an execution that is killed and resumed for ever would never end. */
const RESUMES = 2;

/**
 * Notes an end. An unsuccessful execution may be resumed while operations still run and answers are on their way, and may be
 * killed again.
 */
function onEnd(simulation: Simulation, execution: MemoryExecution, resumedAtOnce: number): void {
  const { world, endedMs, replicas } = simulation;
  const { row, resumes, tasks } = execution;
  const { random } = world;
  // The loops of all replicas check the queue as well; here they do so at this moment by chance.
  if (random.chance(ALL_LOOK)) for (const deps of replicas.values()) deps.wake.dequeue();
  endedMs.set(row.id, [...(endedMs.get(row.id) ?? []), world.now]);
  const isStopping = [...tasks.values()].some((task) => task.isKillRequested && task.state === 'started');
  const isSoon = isStopping && random.chance(TAKEN_BACK);
  if (row.status === 'terminated' || resumes >= RESUMES || !(isSoon || random.chance(resumedAtOnce))) return;
  const at = world.now + random.below(isSoon ? 50 : 400);
  resumeAt(simulation, row.id, !isSoon && random.chance(0.3), at);
  if (random.chance(0.3))
    cancelAt(simulation, row.id, at + random.below(600), random.pick(['kill', 'force-cancel'] as const));
}

/** Starts an execution on the deployment of another one that is just about to leave the queue. */
function overtake(simulation: Simulation, heads: readonly ExecutionRow[]): void {
  const { world, maxConcurrent, database } = simulation;
  for (const { id, deployment_id: deployment } of heads)
    if (maxConcurrent > 1 && deployment !== null && world.random.chance(OVERTAKEN))
      startBeside(simulation, `beside-${id}-${database.executions.size}`, deployment, world.now);
}

/** Starts members of a group, like the request that creates one, while another process counts the free places. */
function startMembersBeside(simulation: Simulation): void {
  const { world, database } = simulation;
  for (const { id, tenant, has_queued } of database.groups.values()) {
    if (!has_queued || !world.random.chance(COUNTED_BESIDE)) continue;
    askAt(simulation, world.now, async (deps) => {
      const started = await deps.db.tx((tx) => startGroupMembers(tx, deps, tenant, id));
      for (const one of started) deps.wake.drive(one);
    });
  }
}

/** Notes the runs that workers are told to stop, each with its attempt. */
function noteKills({ killedRuns }: Simulation, { row, graphs, tasks }: MemoryExecution): void {
  for (const { isKillRequested, graph_id, idx, attempt } of tasks.values()) {
    if (!isKillRequested) continue;
    const graph = graphs.find(({ id }) => id === graph_id)!;
    killedRuns.add(`${row.id} ${graph.id} ${idx} ${attempt}`);
  }
}

/** Lets another replica take the same runs from silent workers first. */
async function reapBeside(simulation: Simulation): Promise<void> {
  const { world } = simulation;
  if (!world.random.chance(REAPED_BESIDE)) return;
  askAt(simulation, world.now, (deps) => reapLeases(deps));
  await world.pause(world.random.below(REAPED_LATE_MS));
}

const workersOf = new WeakMap<
  Simulation,
  { processes: VirtualProcess[]; hands: Map<VirtualProcess, Hands> }
>();

function bootEngine(simulation: Simulation, process: VirtualProcess): void {
  const { world, database, deployments, replicas } = simulation;
  const send = (envelope: Envelope) => publish(simulation, envelope);
  world.spawn(process, async () => {
    const deps = newEngine(world, database, deployments, {
      publish: send,
      maxConcurrent: simulation.maxConcurrent,
      retryMs: simulation.retryMs,
    });
    replicas.set(process, deps);
    startLoops(world, deps, (work) => world.spawn(process, work));
    await relay(world, database, send);
  });
}

function bootWorker(simulation: Simulation, process: VirtualProcess): void {
  const hands = newHands(process);
  workersOf.get(simulation)!.hands.set(process, hands);
  simulation.world.spawn(process, () => beat(simulation.fleet, hands));
}

/** Sends messages of a commit directly from memory; their outbox rows are deleted once the broker has them. */
function sendFromMemory(simulation: Simulation, messages: readonly Envelope[]): void {
  const { world, database } = simulation;
  const life = world.life()!;
  world.spawn(life.process, async () => {
    for (const envelope of messages) {
      await world.pause(0.5);
      publish(simulation, envelope);
      await world.pause(0.5);
      database.outbox.delete(envelope.id);
    }
  });
}

function publish(simulation: Simulation, envelope: Envelope): void {
  const { world, fleet, replicas } = simulation;
  if (envelope.type === MESSAGES.finished)
    simulation.announced.add((envelope.payload as { executionId: string }).executionId);
  const { processes, hands } = workersOf.get(simulation)!;
  if (envelope.type === MESSAGES.ready || envelope.type === MESSAGES.firstReady)
    publishTo(world, processes, envelope, (to, { payload }) =>
      wakeWorker(fleet, hands.get(to)!, payload as { executionId: string; taskId: string }),
    );
  if (envelope.type === MESSAGES.cancelled) publishToAll(world, [...hands.values()], envelope, stopRuns);
  if (envelope.type === MESSAGES.accepted) publishToDeployments(world, simulation.deployments, envelope);
  if (envelope.type === MESSAGES.requested) {
    publishToDeployments(world, simulation.deployments, envelope);
    publishTo(world, fleet.engines, envelope, (to, one) =>
      onExecutionRequested(replicas.get(to)!)(one as Envelope<{ executionId: string }>).catch(mayFail),
    );
  }
}

/** Ignores refusals of the engine: in production the message is redelivered; here the loops do the same work. */
function mayFail(error: unknown): void {
  if (!isAppError(error)) throw error;
}

/** The version at which a graph in memory was last checked. */
const checked = new WeakMap<GraphState, number>();

/** Checks that a graph in memory with the version of its row equals the stored rows. */
function watchMemory(simulation: Simulation): void {
  const { world, database, replicas, oracle, looks } = simulation;
  for (const [process, deps] of replicas) {
    if (!process.isUp) continue;
    for (const execution of database.executions.values()) {
      const loaded = deps.memory.known(execution.row.id);
      if (loaded?.version !== execution.row.version || loaded.graphId !== execution.row.graph_id) continue;
      if (checked.get(loaded.graph) === loaded.version) continue;
      checked.set(loaded.graph, loaded.version);
      oracle.checkMemory(looks.get(execution.row.id)!, loaded.graph);
    }
  }
  judgeTimers(simulation);
  judgeGoingOn(simulation);
  world.at(world.now + 500, () => watchMemory(simulation));
}
