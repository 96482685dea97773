import type { JsonObject } from '@baton/kernel';
import { type ExecutionStatus, executionMachine, type Happening } from '@baton/task-graph';
import { beginExecution, cancel, type Engine, report, requestResume } from './engine';
import { publish } from './network';
import { newOracle, type Oracle } from './oracle';
import { type Random, seededRandom } from './random';
import { type ExecutionRow, type Message, newStore } from './store';
import { randomModel } from './topology';
import { type Fleet, runTask } from './worker';
import { type Faults, newWorld, type Process, start, type Work, type World } from './world';

export interface SimulationResult {
  seed: number;
  breaches: string[];
  steps: number;
  crashes: number;
  runs: number;
  /** Number of commits that contained steps of several executions. */
  shared?: number;
  statuses: string[];
}

export const WORKFLOWS = [
  'install',
  'uninstall',
  'reinstall',
  'restart',
  'heal',
  'scale',
  'check_status',
  'check_drift',
  'rollback',
];

/** Returns the state of the node instances at the time of the request. */
export function stateBefore(random: Random, workflow: string): string {
  if (workflow === 'install') return 'uninitialized';
  return workflow === 'rollback' ? random.pick(['starting', 'creating']) : 'started';
}

export const parametersOf = (random: Random, workflow: string): JsonObject =>
  workflow === 'scale'
    ? { scalable_entity_name: 'n0', delta: random.pick([1, -1]) }
    : { ignore_failure: random.chance(0.3) };

const TROUBLED_MS = 6000;
const HEALED_MS = 60_000;

export const QUIET: Faults = {
  crash: 0,
  lose: 0,
  duplicate: 0,
  commitRefused: 0,
  commitAnswerLost: 0,
  pause: 0,
};

/** One world from one seed: some seconds of faults, then time to heal, then the oracle's final check. */
export function simulate(seed: number): SimulationResult {
  const dice = seededRandom(seed * 7919 + 1);
  const grade = dice.pick([0, 0.3, 1]);
  const world = newWorld(seed, {
    crash: 0.002 * grade,
    lose: 0.08 * grade,
    duplicate: 0.1 * grade,
    commitRefused: 0.04 * grade,
    commitAnswerLost: 0.03 * grade,
    pause: 0.02 * grade,
  });
  const oracle = newOracle();
  // A single replica reuses its graph in memory for long; two replicas often reload it.
  const { engine, fleet } = build(world, oracle, seed, dice.pick([['engine-1'], ['engine-1', 'engine-2']]));
  for (let i = 0; i < 3; i++) request(world, engine, fleet, i);
  world.runUntil(TROUBLED_MS);
  world.faults = QUIET;
  const executions = () => [...engine.store.executions.values()];
  const isOver = () => executions().every((e) => executionMachine.isTerminal(e.status as ExecutionStatus));
  // Once all have ended, some more time passes for late reports and messages, which must change nothing.
  while (world.now < TROUBLED_MS + HEALED_MS && !isOver()) world.runUntil(world.now + 1000);
  world.runUntil(world.now + 2000);
  oracle.atEnd(executions(), fleet.ledger);
  if (engine.store.outbox.length > 0)
    oracle.breaches.push(`${engine.store.outbox.length} messages were never sent`);
  const statuses = executions().map((e) => `${e.workflow}:${e.status}`);
  return {
    seed,
    breaches: oracle.breaches,
    steps: world.steps,
    crashes: world.crashes,
    runs: fleet.ledger.length,
    statuses,
  };
}

function build(
  world: World,
  oracle: Oracle,
  seed: number,
  names: readonly string[],
): { engine: Engine; fleet: Fleet } {
  const store = newStore(world);
  store.watchers.push(oracle.onCommit);
  const engine: Engine = { world, store, memory: new Map(), checkMemory: oracle.checkMemory };
  const process = (name: string, boot: (p: Process) => void): Process => ({
    name,
    epoch: 0,
    isUp: false,
    boot,
    onCrash: [],
  });
  const workers = ['worker-1', 'worker-2', 'worker-3'].map((name) => process(name, () => {}));
  const engines: Process[] = names.map((name) => process(name, (p) => bootEngine(engine, fleet, workers, p)));
  const fleet: Fleet = { engine, engines, ledger: [], outcomeOf: outcomes(seed) };
  world.processes.push(...engines, ...workers);
  for (const p of world.processes) start(p);
  return { engine, fleet };
}

/** Starts the loops that every replica runs; all of them are safe beside each other. */
function bootEngine(engine: Engine, fleet: Fleet, workers: readonly Process[], process: Process): void {
  const { world } = engine;
  engine.memory.set(process, new Map());
  const deliver = (message: Message) =>
    publish(world, message.kind === 'ready' ? workers : fleet.engines, (to) =>
      world.spawn(
        to,
        message.kind === 'ready'
          ? runTask(fleet, to, message.run)
          : beginExecution(engine, to, message.execution),
      ),
    );
  world.spawn(process, relay(engine, deliver));
  world.spawn(process, sendAgain(engine, deliver));
  world.spawn(process, wake(engine, process));
  world.spawn(process, reap(engine, process));
}

function* relay(engine: Engine, deliver: (message: Message) => void): Work {
  for (;;) {
    yield 5;
    const entry = engine.store.outbox[0];
    if (!entry) continue;
    deliver(entry.message);
    yield 1;
    engine.store.outbox = engine.store.outbox.filter((e) => e.id !== entry.id);
  }
}

/** Repeats messages that were not handled: the rows are the source of truth. */
function* sendAgain(engine: Engine, deliver: (message: Message) => void): Work {
  for (;;) {
    yield 150;
    for (const row of engine.store.executions.values()) {
      if (row.status === 'pending') deliver({ kind: 'begin', execution: row.id });
      if (row.status !== 'started') continue;
      for (const task of row.rows) {
        const isStale = task.state === 'sent' && engine.world.now - (row.sentAt.get(task.idx) ?? 0) > 300;
        const run = { execution: row.id, graph: row.head!.name, idx: task.idx, attempt: task.attempt };
        if (isStale) deliver({ kind: 'ready', run });
      }
    }
  }
}

function* wake(engine: Engine, process: Process): Work {
  for (;;) {
    yield 25;
    for (const row of [...engine.store.executions.values()]) {
      const happenings = row.status === 'started' ? dueOf(row, engine.world.now) : [];
      if (happenings.length > 0) yield* report(engine, process, runOf(row), happenings);
    }
  }
}

function runOf(row: ExecutionRow): { execution: string; graph: string } {
  return { execution: row.id, graph: row.head?.name ?? '' };
}

function dueOf(row: ExecutionRow, now: number): Happening[] {
  const due: Happening[] = row.rows.flatMap((task) =>
    task.state === 'pending' && task.notBefore !== null && task.notBefore <= now
      ? [{ kind: 'due' as const, idx: task.idx }]
      : [],
  );
  if (row.stage && row.flags?.deadline && row.flags.deadline <= now) due.push({ kind: 'due', idx: null });
  return due;
}

function* reap(engine: Engine, process: Process): Work {
  for (;;) {
    yield 60;
    for (const row of [...engine.store.executions.values()]) {
      const lost = [...row.leases].filter(([, lease]) => lease.expiresAt <= engine.world.now);
      for (const [idx, { attempt }] of lost)
        yield* report(engine, process, runOf(row), [{ kind: 'lost', idx, attempt }]);
    }
  }
}

/** Creates an execution, and possibly a cancel and a resume of it, at random times. */
function request(world: World, engine: Engine, fleet: Fleet, i: number): void {
  const { random } = world;
  const workflow = random.pick(WORKFLOWS);
  const state = stateBefore(random, workflow);
  const model = randomModel(random, state);
  const id = `execution-${i}`;
  const parameters = parametersOf(random, workflow);
  world.at(random.below(500), () => {
    engine.store.executions.set(id, {
      id,
      workflow,
      parameters,
      model,
      status: 'pending',
      version: 0,
      isResumed: false,
      cancel: null,
      history: [],
      stage: null,
      head: null,
      rows: [],
      flags: null,
      leases: new Map(),
      sentAt: new Map(),
      events: [],
      error: null,
    });
  });
  const somewhere = (what: (p: Process) => Work) => {
    const up = fleet.engines.filter((p) => p.isUp);
    if (up.length === 0) return;
    const process = random.pick(up);
    world.spawn(process, what(process));
  };
  if (random.chance(0.35)) {
    const mode = random.pick(['cancel', 'force-cancel', 'kill'] as const);
    world.at(random.below(2500), () => somewhere((p) => cancel(engine, p, id, mode)));
  }
  if (random.chance(0.5))
    world.at(TROUBLED_MS / 2 + random.below(2500), () => somewhere((p) => requestResume(engine, p, id)));
}

/** Returns the outcome of a run, mostly success. The same run always has the same outcome. */
export function outcomes(seed: number): Fleet['outcomeOf'] {
  return ({ execution, graph, idx, attempt }) => {
    const text = `${seed} ${execution} ${graph} ${idx} ${attempt}`;
    const key = [...text].reduce((a, c) => Math.imul(a, 31) + c.charCodeAt(0), 7);
    const random = seededRandom(key);
    const durationMs = 5 + random.below(random.chance(0.1) ? 700 : 80);
    const at = { idx, attempt };
    const error = (recoverable: boolean) => ({
      type: recoverable ? 'RecoverableError' : 'NonRecoverableError',
      message: 'boom',
      recoverable,
    });
    // Some seeds fail seldom, so that the consequences of a failure run to their end.
    const throwOf = 1 - (1 - random.next()) / (seed % 3 === 0 ? 1 : 0.3);
    if (throwOf < 0.8) return { durationMs, happening: { kind: 'succeeded', result: attempt, ...at } };
    if (throwOf < 0.9) return { durationMs, happening: { kind: 'failed', error: error(true), ...at } };
    if (throwOf < 0.94) return { durationMs, happening: { kind: 'failed', error: error(false), ...at } };
    if (throwOf < 0.955) return { durationMs, happening: waits(random, at) };
    if (throwOf < 0.97)
      return { durationMs, happening: { kind: 'retry', message: 'again', retryAfterMs: 30, ...at } };
    return { durationMs, happening: { kind: 'timed-out', ...at } };
  };
}

/** Waits for a while, or for an execution that does not exist: then only the time of its own check wakes it. */
function waits(random: Random, at: { idx: number; attempt: number }): Happening {
  return {
    kind: 'deferred',
    message: 'waits',
    untilExecution: null,
    checkAfterMs: 500 + random.below(500),
    ...at,
  };
}
