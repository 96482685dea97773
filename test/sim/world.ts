import { type Random, seededRandom } from './random';

/**
 * A world of processes on one virtual clock. Code in a process is a generator. Each `yield n` is an await of n ms (plus a little
 * random time). At each of them the process may crash, which ends all its generators, loses its memory and rolls its open
 * transactions back. Nothing here uses a real clock or a promise.
 */
export type Work<T = void> = Generator<number | Waiting, T, void>;

/** An await for an event of another generator: resumed when `wake` is called. */
export interface Waiting {
  isWaiting: true;
  onWait(wake: () => void): void;
}

export interface Faults {
  /** Probability per await, while faults are on. */
  crash: number;
  /** Probability per message and direction. */
  lose: number;
  duplicate: number;
  /** Probability per commit: refused, or made with its answer lost. */
  commitRefused: number;
  commitAnswerLost: number;
  /** Probability per await of a worker: it pauses for longer than its lease lasts. */
  pause: number;
}

export interface Process {
  name: string;
  epoch: number;
  isUp: boolean;
  /** Starts the loops of the process; called on each start. */
  boot: (process: Process) => void;
  /** Functions that run elsewhere when the process dies (open transactions). */
  onCrash: (() => void)[];
}

export interface World {
  random: Random;
  faults: Faults;
  now: number;
  processes: Process[];
  spawn(process: Process, work: Work): void;
  crash(process: Process): void;
  at(time: number, what: () => void): void;
  /** Runs until `time`, or until nothing is left to do. */
  runUntil(time: number): void;
  steps: number;
  crashes: number;
}

interface Entry {
  at: number;
  seq: number;
  run: () => void;
}

const RESTART_MS = 200;

export function newWorld(seed: number, faults: Faults): World {
  const queue: Entry[] = [];
  let seq = 0;
  const world: World = {
    random: seededRandom(seed),
    faults,
    now: 0,
    processes: [],
    steps: 0,
    crashes: 0,
    at(time, run) {
      push(queue, { at: Math.max(time, world.now), seq: seq++, run });
    },
    spawn(process, work) {
      resume(world, process, process.epoch, work);
    },
    crash(process) {
      if (!process.isUp) return;
      process.isUp = false;
      process.epoch++;
      world.crashes++;
      for (const undo of process.onCrash.splice(0)) undo();
      world.at(world.now + RESTART_MS + world.random.below(RESTART_MS), () => start(process));
    },
    runUntil(time) {
      while (queue.length > 0 && queue[0]!.at <= time) {
        const entry = pop(queue);
        world.now = entry.at;
        world.steps++;
        entry.run();
      }
      world.now = time;
    },
  };
  return world;
}

export function start(process: Process): void {
  process.isUp = true;
  process.boot(process);
}

/** Runs one step of `work`, and continues when its await is over. */
function resume(world: World, process: Process, epoch: number, work: Work): void {
  if (process.epoch !== epoch || !process.isUp) return;
  if (world.random.chance(world.faults.crash)) return world.crash(process);
  const step = work.next();
  if (step.done) return;
  const again = () => resume(world, process, epoch, work);
  if (typeof step.value === 'number') world.at(world.now + step.value + world.random.next(), again);
  else step.value.onWait(() => world.at(world.now, again));
}

function push(heap: Entry[], entry: Entry): void {
  heap.push(entry);
  for (let i = heap.length - 1; i > 0; ) {
    const parent = (i - 1) >> 1;
    if (!isBefore(heap[i]!, heap[parent]!)) break;
    [heap[i], heap[parent]] = [heap[parent]!, heap[i]!];
    i = parent;
  }
}

function pop(heap: Entry[]): Entry {
  const top = heap[0]!;
  const last = heap.pop()!;
  if (heap.length > 0) {
    heap[0] = last;
    sink(heap);
  }
  return top;
}

function sink(heap: Entry[]): void {
  for (let i = 0; ; ) {
    let least = i;
    for (const child of [2 * i + 1, 2 * i + 2]) {
      if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
    }
    if (least === i) return;
    [heap[i], heap[least]] = [heap[least]!, heap[i]!];
    i = least;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}
