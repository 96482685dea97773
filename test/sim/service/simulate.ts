import './substitute';
import type { Envelope } from '@baton/contracts';
import { isAppError, isUuid } from '@baton/kernel';
import { type ExecutionStatus, executionMachine, type GraphState } from '@baton/task-graph';
import { startGroupMembers } from '../../../services/executions/src/commands/start-group-members';
import { wakeEnded } from '../../../services/executions/src/commands/wake-deferred';
import type { EngineDeps } from '../../../services/executions/src/engine/deps';
import { onExecutionRequested } from '../../../services/executions/src/messages/on-execution-requested';
import type { ExecutionRow } from '../../../services/executions/src/store/rows';
import { newOracle } from '../oracle';
import { seededRandom } from '../random';
import { outcomes, QUIET, type SimulationResult } from '../simulate';
import { askAt } from './clients';
import { type MemoryExecution, newDatabase } from './database';
import { MESSAGES, newEngine, relay, startLoops } from './engine';
import { executionIdOf, observed } from './executions';
import { isCircular, newDeployments, publishTo } from './peers';
import { newQueueOracle } from './queue-oracle';
import { cancelAt, enqueue, enqueueWide, request, startBeside } from './requests';
import { newProcess, type Simulation } from './simulation';
import { newVirtualWorld, type VirtualProcess, type VirtualWorld } from './virtual';
import { beat, type Fleet, type Hands, newHands, wakeWorker } from './worker';

const TROUBLED_MS = 40_000;
const HEALED_MS = 1_200_000;
/** Worlds with a queue in which something waits until nothing else is at work. */
const WIDE = 0.4;
/** Ends after which all replicas look at the queue at once. */
const ALL_LOOK = 0.5;
/** Executions before which another one begins while they leave the queue. */
const OVERTAKEN = 0.3;
/** Times somebody counts what is at work at which a request starts members of a group. */
const COUNTED_BESIDE = 0.2;
/** Cancels at the moment at which the end is decided and not yet written. */
const LATE_CANCELS = 0.15;

/**
 * One world from one seed around the engine that runs in production: its commands, step writer, graph memory, wake-ups
 * and loops. Some time of faults, then time to heal, then the oracle's last word.
 */
export async function simulateService(seed: number): Promise<SimulationResult> {
  const dice = seededRandom(seed * 104_729 + 3);
  const grade = dice.pick([0, 0.3, 1]);
  const world = newVirtualWorld(seed, {
    crash: 0.003 * grade,
    lose: 0.05 * grade,
    duplicate: 0.1 * grade,
    commitRefused: 0.06 * grade,
    commitAnswerLost: 0.02 * grade,
    pause: 0.004 * grade,
  });
  try {
    // With one replica the graph in memory is used for long, and a slow disk has many steps share a commit.
    const maxConcurrent = dice.pick([null, null, 1, 1, 3]);
    const simulation = build(world, seed, {
      maxConcurrent,
      names: dice.pick([['engine-1'], ['engine-1', 'engine-2']]),
      commitMs: dice.pick([0.3, 25]),
    });
    const executions = dice.pick([2, 4, 8]);
    for (let i = 0; i < executions; i++)
      if (maxConcurrent === null) request(simulation, i);
      else enqueue(simulation, i);
    if (maxConcurrent !== null && dice.chance(WIDE)) enqueueWide(simulation, 0);
    await world.runUntil(TROUBLED_MS);
    world.faults = QUIET;
    while (world.now < TROUBLED_MS + HEALED_MS && !isOver(simulation))
      await world.runUntil(world.now + 5_000);
    // Late reports and messages, which must change nothing.
    await world.runUntil(world.now + 30_000);
    return judge(simulation, seed);
  } finally {
    world.end();
  }
}

const isOver = ({ database }: Simulation): boolean =>
  [...database.executions.values()].every(({ row }) =>
    executionMachine.isTerminal(row.status as ExecutionStatus),
  );

function judge(simulation: Simulation, seed: number): SimulationResult {
  const { world, database, deployments, oracle, fleet, announced, cancelled } = simulation;
  const executions = [...database.executions.values()];
  oracle.atEnd(executions.map(observed), fleet.ledger);
  const { breaches } = oracle;
  breaches.push(...world.surprises);
  if (database.outbox.size > 0) breaches.push(`${database.outbox.size} messages were never sent`);
  for (const { row, states, resumes, tasks } of executions) {
    for (const { idx, state, leaseUntilMs } of tasks.values())
      if (leaseUntilMs !== null && state !== 'started')
        breaches.push(`${row.id}: task ${idx} is ${state} and has a lease`);
    if (states.length > 0) breaches.push(`${row.id}: ${states.length} states were never delivered`);
    const end = deployments.ended.findLast(({ executionId }) => executionId === row.id);
    if (row.deployment_id !== null && end?.status !== row.status)
      breaches.push(`${row.id}: deployments knows it as ${end?.status}`);
    if (row.status === 'terminated' && isCircular(row.id))
      breaches.push(`${row.id}: it terminated, though deployments found that it failed`);
    if (!announced.has(row.id)) breaches.push(`${row.id}: its end was not announced`);
    if (cancelled.has(row.id) && resumes === 0 && row.status !== 'cancelled')
      breaches.push(`${row.id}: a cancel was accepted, it ended as ${row.status}`);
  }
  checkKills(simulation, breaches);
  for (const end of deployments.ended)
    if (!end.isWhole) breaches.push(`${end.executionId}: its end was told before its states`);
  return {
    seed,
    breaches,
    steps: world.steps,
    crashes: world.crashes,
    runs: fleet.ledger.length,
    shared: database.shared,
    statuses: executions.map(({ row }) => `${row.workflow_id}:${row.status}`),
  };
}

/** By how much what is due may be late once nothing breaks any more. */
const LATE_MS = 20_000;

/** Nothing that is due is left lying. */
function checkTimers({ world, database, oracle }: Simulation): void {
  if (world.now < TROUBLED_MS + LATE_MS) return;
  const isLate = (at: number | null | undefined) => at != null && at < Date.now() - LATE_MS;
  for (const { row, tasks, graphs } of database.executions.values()) {
    if (row.phase !== 'running') continue;
    if (isLate(graphs.find(({ id }) => id === row.graph_id)?.flags.deadline))
      oracle.breaches.push(`${row.id}: goes on long after the time that its failure left it`);
    for (const { idx, graph_id, state, not_before } of tasks.values())
      if (graph_id === row.graph_id && state === 'pending' && isLate(not_before))
        oracle.breaches.push(`${row.id}: task ${idx} was due long ago`);
  }
}

/** A heartbeat, and some seconds for what it has to say. */
const KILLED_WITHIN_MS = 10_000;

/** What ran when a kill was accepted is over soon afterwards, where nothing is lost on the way. */
function checkKills({ killed, fleet, isCalm }: Simulation, breaches: string[]): void {
  if (!isCalm) return;
  for (const { execution, idx, from, to } of fleet.ledger) {
    const at = killed.get(execution);
    if (at !== undefined && from <= at && (to ?? from) > at + KILLED_WITHIN_MS)
      breaches.push(`${execution}: task ${idx} ran on for ${Math.round(to! - at)} ms after its kill`);
  }
}

interface SimulationShape {
  names: readonly string[];
  commitMs: number;
  /** Null: every execution has a deployment of its own and starts at once; else all of them queue for few. */
  maxConcurrent: number | null;
}

function build(
  world: VirtualWorld,
  seed: number,
  { names, commitMs, maxConcurrent }: SimulationShape,
): Simulation {
  const oracle = newOracle();
  const decided = new Map<string, Map<string, number[]>>();
  const looks: Simulation['looks'] = new Map();
  const queue =
    maxConcurrent === null ? null : newQueueOracle(() => database, maxConcurrent, oracle.breaches);
  const database = newDatabase(world, {
    onCommit(after, isResume) {
      noteDecided(decided, after);
      const before = looks.get(after.row.id)!;
      const now = observed(after);
      looks.set(after.row.id, now);
      oracle.onCommit(before, now, isResume);
      queue?.onCommit(after.row, isResume);
      const isEnding = after.row.phase === 'ending' && after.row.outcome?.status === 'terminated';
      if (isEnding && world.random.chance(LATE_CANCELS))
        cancelAt(simulation, after.row.id, world.now, 'cancel');
    },
    onSent: (messages) => {
      queue?.onSent(messages);
      sendFromMemory(simulation, messages);
    },
    onQueueRead: (heads) => overtake(simulation, heads),
    onCounted: () => startMembersBeside(simulation),
    commitMs,
  });
  const deployments = newDeployments(world, (executionId, upTo) => {
    // Of each instance the last state up to that number has been applied.
    for (const [instance, seqs] of decided.get(executionId) ?? []) {
      const last = Math.max(0, ...seqs.filter((seq) => seq <= upTo));
      const deployment = database.executions.get(executionId)!.row.deployment_id!;
      const isThere = deployments.models.get(deployment)!.nodeInstances.some(({ id }) => id === instance);
      if (isThere && (deployments.applied.get(`${executionId}/${instance}`) ?? 0) < last) return false;
    }
    return true;
  });
  const replicas = new Map<VirtualProcess, EngineDeps>();
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
    outcomeOf: waitingForEachOther(outcomes(seed), database),
  };
  const simulation: Simulation = {
    world,
    database,
    deployments,
    oracle,
    fleet,
    replicas,
    looks,
    cancelled: new Set(),
    killed: new Map(),
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

/** Somebody starts an execution on the deployment of one that is just about to leave the queue. */
function overtake(simulation: Simulation, heads: readonly ExecutionRow[]): void {
  const { world, maxConcurrent, database } = simulation;
  for (const { id, deployment_id: deployment } of heads)
    if (maxConcurrent > 1 && deployment !== null && world.random.chance(OVERTAKEN))
      startBeside(simulation, `beside-${id}-${database.executions.size}`, deployment, world.now);
}

/** Members of a group are started, as by the request that makes one, while somebody else sees how much room there is. */
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

const LONG_FROM_MS = 400;
const LONG = 30;

/** Half of the operations that wait, wait for the end of an execution, their own one perhaps. */
function waitingForEachOther(
  outcomeOf: Fleet['outcomeOf'],
  { executions }: Pick<Simulation['database'], 'executions'>,
): Fleet['outcomeOf'] {
  return (run) => {
    const { happening, ...more } = outcomeOf(run);
    // Some take long enough for a kill to find them.
    const durationMs = more.durationMs > LONG_FROM_MS ? more.durationMs * LONG : more.durationMs;
    if (happening.kind !== 'deferred' || run.attempt % 2 === 0) return { durationMs, happening };
    const awaited = run.execution === executionIdOf(0) ? lastElsewhere(executions) : null;
    // Nothing but its end wakes it then.
    if (awaited !== null)
      return { durationMs, happening: { ...happening, untilExecution: awaited, checkAfterMs: 3_600_000 } };
    const ids = [...executions.keys()];
    return { durationMs, happening: { ...happening, untilExecution: ids[run.idx % ids.length]! } };
  };
}

/** The last one that was asked for, where it does not wait for the first one itself: on another deployment. */
function lastElsewhere(executions: Simulation['database']['executions']): string | null {
  const first = executions.get(executionIdOf(0))!.row;
  const last = [...executions.values()].findLast(({ row }) => isUuid(row.id))!.row;
  return last.deployment_id === first.deployment_id ? null : last.id;
}

const workersOf = new WeakMap<
  Simulation,
  { processes: VirtualProcess[]; hands: Map<VirtualProcess, Hands> }
>();

function noteDecided(decided: Map<string, Map<string, number[]>>, { row, states }: MemoryExecution): void {
  const known = decided.get(row.id) ?? new Map<string, number[]>();
  decided.set(row.id, known);
  for (const { node_instance_id, seq } of states) {
    const seqs = known.get(node_instance_id) ?? [];
    if (!seqs.includes(seq)) seqs.push(seq);
    known.set(node_instance_id, seqs);
  }
}

function bootEngine(simulation: Simulation, process: VirtualProcess): void {
  const { world, database, deployments, replicas } = simulation;
  const send = (envelope: Envelope) => publish(simulation, envelope);
  world.spawn(process, async () => {
    const deps = newEngine(world, database, deployments, {
      publish: send,
      maxConcurrent: simulation.maxConcurrent,
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

/** What a process has just committed leaves from its memory; its rows go once the broker has it. */
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
  if (envelope.type === MESSAGES.finished) {
    simulation.announced.add((envelope.payload as { executionId: string }).executionId);
    // Loops of all replicas look at the queue as well, and chance has it that they do so now.
    if (world.random.chance(ALL_LOOK)) for (const deps of replicas.values()) deps.wake.dequeue();
    // What messages/on-execution-finished.ts does of it here.
    publishTo(world, fleet.engines, envelope, async (to, { payload }) => {
      const deps = replicas.get(to)!;
      deps.wake.dequeue();
      await wakeEnded(deps, [(payload as { executionId: string }).executionId]).catch(mayFail);
    });
  }
  const { processes, hands } = workersOf.get(simulation)!;
  if (envelope.type === MESSAGES.ready)
    publishTo(world, processes, envelope, (to, { payload }) =>
      wakeWorker(fleet, hands.get(to)!, payload as { executionId: string; taskId: string }),
    );
  if (envelope.type === MESSAGES.cancelled)
    for (const { running } of hands.values())
      for (const id of (envelope.payload as { taskIds: string[] }).taskIds) {
        const held = running.get(id);
        if (held && !world.random.chance(world.faults.lose)) held.isKilled = true;
      }
  if (envelope.type === MESSAGES.requested)
    publishTo(world, fleet.engines, envelope, (to, one) =>
      onExecutionRequested(replicas.get(to)!)(one as Envelope<{ executionId: string }>).catch(mayFail),
    );
}

/** The message comes again in production; here the loops do what it asked for. */
function mayFail(error: unknown): void {
  if (!isAppError(error)) throw error;
}

/** The version at which a graph in memory was looked at last. */
const checked = new WeakMap<GraphState, number>();

/** A graph in memory at the version of its row is what the rows say. */
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
  checkTimers(simulation);
  world.at(world.now + 500, () => watchMemory(simulation));
}
