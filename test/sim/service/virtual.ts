import { AsyncLocalStorage } from 'node:async_hooks';
import { type Random, seededRandom } from '../random';
import { QUIET as CALM } from '../simulate';
import type { Faults } from '../world';

/**
 * Processes of promises on one virtual clock. While it runs, the simulation controls the platform's timers, clocks and random
 * numbers, so the same seed gives the same run. A process may crash at each `pause`, which every statement, call and message
 * uses: the promise that waits there is never settled, and the timers of the process do not fire.
 */
export interface VirtualProcess {
  name: string;
  epoch: number;
  isUp: boolean;
  boot: () => void;
  /** Functions that run elsewhere when the process dies. */
  onCrash: Set<() => void>;
}

export interface Life {
  process: VirtualProcess;
  epoch: number;
}

export interface VirtualFaults extends Faults {
  /** Probability per await that it takes some seconds, as when a process, a disk or a network stalls. */
  stall: number;
}

/** No faults. */
export const QUIET: VirtualFaults = { ...CALM, stall: 0 };

export interface VirtualWorld {
  random: Random;
  faults: VirtualFaults;
  now: number;
  steps: number;
  crashes: number;
  /** Errors that were not reported to any caller. */
  surprises: string[];
  at(time: number, what: () => void): void;
  start(process: VirtualProcess): void;
  spawn(process: VirtualProcess, work: () => Promise<unknown>): void;
  /** Waits about `ms`, within the life of the caller. */
  pause(ms: number): Promise<void>;
  life(): Life | undefined;
  runUntil(time: number): Promise<void>;
  /** Restores the platform's clocks. */
  end(): void;
}

interface Entry {
  at: number;
  seq: number;
  run: () => void;
}

const RESTART_MS = 2_000;
const STALL_MS = 3_000;
/** An arbitrary instant. */
const EPOCH_MS = Date.UTC(2030, 0, 1);
const lives = new AsyncLocalStorage<Life>();
const turn = setImmediate;

const isAlive = (life: Life | undefined): boolean =>
  !life || (life.process.isUp && life.process.epoch === life.epoch);

export function newVirtualWorld(seed: number, faults: VirtualFaults): VirtualWorld {
  const queue: Entry[] = [];
  let seq = 0;
  const push = (at: number, run: () => void): Entry => {
    const entry = { at: Math.max(at, world.now), seq: seq++, run };
    let low = 0;
    for (let high = queue.length; low < high; ) {
      const middle = (low + high) >> 1;
      // The queue is sorted in descending order: the next entry is the last one.
      if (queue[middle]!.at > entry.at) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, entry);
    return entry;
  };
  const crash = (process: VirtualProcess): void => {
    process.isUp = false;
    process.epoch++;
    world.crashes++;
    for (const undo of [...process.onCrash]) undo();
    process.onCrash.clear();
    push(world.now + RESTART_MS * (1 + world.random.next()), () => world.start(process));
  };
  const world: VirtualWorld = {
    random: seededRandom(seed),
    faults,
    now: 0,
    steps: 0,
    crashes: 0,
    surprises: [],
    at: (time, what) => void push(time, what),
    start(process) {
      process.isUp = true;
      process.boot();
    },
    spawn(process, work) {
      if (!process.isUp) return;
      lives.run({ process, epoch: process.epoch }, () => {
        work().catch((error: unknown) => world.surprises.push(`${process.name}: ${textOf(error)}`));
      });
    },
    pause(ms) {
      const life = lives.getStore();
      const isStalled = world.faults.stall > 0 && world.random.chance(world.faults.stall);
      const lasts = isStalled ? ms + world.random.below(STALL_MS) : ms;
      return new Promise((resolve) => {
        push(world.now + lasts + world.random.next(), () => {
          if (!isAlive(life)) return;
          if (life && world.random.chance(world.faults.crash)) crash(life.process);
          else resolve();
        });
      });
    },
    life: () => lives.getStore(),
    async runUntil(time) {
      while (queue.length > 0 && queue.at(-1)!.at <= time) {
        const entry = queue.pop()!;
        world.now = entry.at;
        world.steps++;
        entry.run();
        // Then all code up to the next external await has run.
        await new Promise((resolve) => turn(resolve));
      }
      world.now = time;
    },
    end: takePlatform(seed, () => world.now, push, queue),
  };
  return world;
}

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

type Push = (at: number, run: () => void) => Entry;

function takePlatform(seed: number, now: () => number, push: Push, queue: Entry[]): () => void {
  const chance = seededRandom(seed * 31 + 7);
  const cancel = (timer: unknown): void => {
    const at = queue.indexOf((timer as { entry?: Entry } | undefined)?.entry as Entry);
    if (at >= 0) queue.splice(at, 1);
  };
  const timer = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const life = lives.getStore();
    const entry = push(now() + Math.max(0, ms), () => {
      if (!isAlive(life)) return;
      if (life) lives.run(life, () => work(...args));
      else work(...args);
    });
    const handle = { entry, unref: () => handle, ref: () => handle, hasRef: () => false };
    return handle;
  };
  const ours = {
    setTimeout: timer,
    clearTimeout: cancel,
    setImmediate: (work: (...args: unknown[]) => void, ...args: unknown[]) => timer(work, 0, ...args),
    clearImmediate: cancel,
  };
  const bytes = (array: Uint8Array) => array.map((_, i) => ((array[i] = chance.below(256)), array[i]!));
  const places: [object, string, unknown][] = [
    ...Object.entries(ours).map(([name, value]): [object, string, unknown] => [globalThis, name, value]),
    [Date, 'now', () => EPOCH_MS + Math.floor(now())],
    [performance, 'now', now],
    [Math, 'random', chance.next],
    [globalThis.crypto, 'getRandomValues', bytes],
  ];
  const undo = places.map(([owner, name, value]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    return () => {
      if (before) Object.defineProperty(owner, name, before);
      else delete (owner as Record<string, unknown>)[name];
    };
  });
  return () => {
    for (const put of undo) put();
  };
}
