import type { Broker } from '@baton/broker';
import {
  buildMessage,
  type Envelope,
  eventsAppended,
  executionResourcesChanged,
  tasksCancelled,
} from '@baton/contracts';
import { backoffMs, type Clock, isoInstant, type Log } from '@baton/kernel';
import type { Wakes } from '../ports';

interface Work {
  drive(executionId: string): Promise<void>;
  deliver(executionIds: readonly string[]): Promise<void>;
  settle(executionId: string): Promise<void>;
  due(executionId: string): Promise<void>;
  dequeue(): Promise<void>;
  /** Continues the work that may go on now that these executions have ended. */
  ended(executionIds: readonly string[]): Promise<void>;
  /** Tells the streams of this process that an execution has moved; `hasStates`: its node instances have moved too. */
  streams(executionId: string, hasStates: boolean): void;
}

/**
 * How long decided states are gathered before they are delivered, so that several states of one instance are one write. The delay
 * is harmless: operations carry the states that they must see, and the end of a graph does not wait for it.
 */
const DELIVER_WINDOW_MS = 250;
/** How long the rows of delivered states wait for a step that deletes them. */
const SETTLE_MS = 500;
/** How long announcements of new events are gathered before one fanout message. */
const EVENTS_WINDOW_MS = 100;
/** Executions that end within this time after a call of `ended` share the next call. */
const ENDS_WINDOW_MS = 10;
/** How long announcements that the broker did not take wait before the next try. */
const ANNOUNCE_AGAIN_MS = 1_000;
/** Executions in one announcement. */
const MAX_ANNOUNCED = 100;
/** Limit of executions whose announcement waits; beyond it, streams of changes are told that they have missed something. */
const MAX_UNANNOUNCED = 20_000;
const MAX_TRIES = 5;

/**
 * Creates the wake-ups inside this process, given right after a commit. Work on one key runs one at a time, and once more when it
 * was asked for meanwhile. Failed work is tried again a few times; if it still fails, the loops find it.
 */
export function createWakes(
  deps: { broker: Broker; clock: Clock; log: Log },
  work: () => Work,
): Wakes & { begin(): void; stop(): void } {
  const timers = executionTimers(deps, (id) => work().due(id));
  const driving = keyedRunner(deps.log, 'drive', (id) => work().drive(id));
  const delivering = gatheredDelivery(deps.log, (ids) => work().deliver(ids));
  const ending = gatheredRunner(deps.log, 'what follows ends', async (ids) => {
    await work().ended(ids);
    await new Promise((resolve) => setTimeout(resolve, ENDS_WINDOW_MS).unref());
  });
  const settling = delayedRunner(deps.log, SETTLE_MS, (id) => work().settle(id));
  const dequeuing = keyedRunner(deps.log, 'dequeue', () => work().dequeue());
  const announcer = eventAnnouncer(deps);
  const about = (key: string) => ({ tenant: '', key, time: isoInstant(deps.clock.now()) });
  return {
    drive: driving.ask,
    driveAtOnce: driving.askAtOnce,
    driven: driving.idle,
    deliver: delivering.ask,
    settle: settling.ask,
    dequeue: () => dequeuing.ask('queue'),
    ended(executionId) {
      ending.add(executionId);
      ending.ask();
    },
    events(executionId) {
      work().streams(executionId, false);
      announcer.add(executionId, false);
    },
    statesApplied(executionId) {
      work().streams(executionId, true);
      announcer.add(executionId, true);
    },
    timer: timers.set,
    kill(executionId, runs) {
      const taskIds = runs.map(({ id }) => id);
      const attempts = runs.map(({ attempt }) => attempt);
      deps.broker
        .publish([buildMessage(tasksCancelled, about(executionId), { executionId, taskIds, attempts })])
        .catch((err: unknown) =>
          deps.log.warn({ err, executionId }, 'workers hear of the cancel at their heartbeat only'),
        );
    },
    /** Tells streams of changes that the previous process may have ended before it announced everything. */
    begin: announcer.begin,
    stop() {
      timers.stop();
      announcer.stop();
      driving.stop();
      delivering.stop();
      ending.stop();
      settling.stop();
      dequeuing.stop();
    },
  };
}

/** Keeps the next timer of each execution. */
function executionTimers(deps: { clock: Clock; log: Log }, due: (executionId: string) => Promise<void>) {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    set(executionId: string, at: number): void {
      const earlier = timers.get(executionId);
      if (earlier) clearTimeout(earlier);
      const delay = Math.max(0, at - deps.clock.now());
      const ring = () => {
        timers.delete(executionId);
        due(executionId).catch((err: unknown) =>
          deps.log.warn({ err, executionId }, 'a timer could not be handled'),
        );
      };
      timers.set(executionId, setTimeout(ring, Math.min(delay, 2 ** 31 - 1)).unref());
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** Gathers executions whose states are to be delivered for DELIVER_WINDOW_MS, then delivers them together. */
function gatheredDelivery(log: Log, deliver: (ids: readonly string[]) => Promise<void>) {
  const running = gatheredRunner(log, 'deliver', deliver);
  const window = delayedRunner(log, DELIVER_WINDOW_MS, async () => running.ask());
  return {
    ask(executionId: string) {
      running.add(executionId);
      window.ask('states');
    },
    stop() {
      window.stop();
      running.stop();
    },
  };
}

/** Runs `run` for all executions added since its last run began; executions of a failed run are part of the next run. */
function gatheredRunner(log: Log, name: string, run: (ids: readonly string[]) => Promise<void>) {
  const waiting = new Set<string>();
  const running = keyedRunner(log, name, async () => {
    const ids = [...waiting];
    waiting.clear();
    await run(ids).catch((error: unknown) => {
      for (const id of ids) waiting.add(id);
      throw error;
    });
  });
  return {
    add: (executionId: string) => void waiting.add(executionId),
    ask: () => running.ask(name),
    stop: () => running.stop(),
  };
}

/**
 * Gathers the executions that have moved for EVENTS_WINDOW_MS, and announces up to MAX_ANNOUNCED of them with one message. An
 * announcement that the broker does not take is repeated: event streams poll, streams of changes do not. A crash loses
 * announcements that were not sent yet: the replica that is started next tells streams of changes so (`begin`).
 */
function eventAnnouncer(deps: { broker: Broker; clock: Clock; log: Log }) {
  /** Execution -> whether states of its node instances were applied. */
  let announced = new Map<string, boolean>();
  let isIncomplete = false;
  let timer: NodeJS.Timeout | null = null;
  const later = (waitMs: number): void => {
    timer ??= setTimeout(send, waitMs);
  };
  const send = (): void => {
    timer = null;
    const moved = announced;
    const isLossTold = isIncomplete || moved.size > MAX_UNANNOUNCED;
    announced = new Map();
    isIncomplete = false;
    const time = isoInstant(deps.clock.now());
    // Too many executions are not announced one by one, only the loss is: event streams look once a second anyway.
    const some = moved.size > MAX_UNANNOUNCED ? [] : announcements(moved, time);
    deps.broker.publish([...(isLossTold ? [incomplete(time)] : []), ...some]).catch((err: unknown) => {
      deps.log.debug({ err }, 'events were not announced yet');
      for (const [id, hasStates] of moved) if (hasStates || !announced.has(id)) announced.set(id, hasStates);
      isIncomplete ||= isLossTold;
      later(ANNOUNCE_AGAIN_MS);
    });
  };
  return {
    add(executionId: string, hasStates: boolean): void {
      announced.set(executionId, hasStates || announced.get(executionId) === true);
      later(EVENTS_WINDOW_MS);
    },
    begin(): void {
      isIncomplete = true;
      later(EVENTS_WINDOW_MS);
    },
    stop() {
      if (timer) clearTimeout(timer);
    },
  };
}

function announcements(moved: ReadonlyMap<string, boolean>, time: string): Envelope[] {
  const ids = [...moved.keys()];
  const envelopes: Envelope[] = [];
  for (let i = 0; i < ids.length; i += MAX_ANNOUNCED) {
    const executionIds = ids.slice(i, i + MAX_ANNOUNCED);
    const statesOf = executionIds.filter((id) => moved.get(id));
    const payload = { executionIds, ...(statesOf.length > 0 ? { statesOf } : {}) };
    envelopes.push(buildMessage(eventsAppended, { tenant: '', key: executionIds[0]!, time }, payload));
  }
  return envelopes;
}

const incomplete = (time: string): Envelope =>
  buildMessage(
    executionResourcesChanged,
    { tenant: '', key: 'all', time },
    { changes: [], isIncomplete: true },
  );

/** Runs `run` once for several requests, `delayMs` after the first of them. */
function delayedRunner(log: Log, delayMs: number, run: (key: string) => Promise<void>) {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    ask(key: string) {
      if (timers.has(key)) return;
      const begin = () => {
        timers.delete(key);
        run(key).catch((err: unknown) => log.warn({ err, key }, 'work after a step failed'));
      };
      timers.set(key, setTimeout(begin, delayMs).unref());
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

function keyedRunner(log: Log, name: string, run: (key: string) => Promise<void>) {
  const running = new Map<string, { again: boolean; attempt: Promise<void> }>();
  let isStopped = false;
  /** Runs `run` until it succeeds or MAX_TRIES tries have failed. */
  const tried = async (key: string, noteAttempt: (attempt: Promise<void>) => void): Promise<void> => {
    for (let tries = 1; !isStopped; tries++) {
      try {
        const attempt = run(key);
        noteAttempt(attempt);
        return await attempt;
      } catch (err) {
        log.warn({ err, key, tries }, `${name} failed`);
        if (tries >= MAX_TRIES) return;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(tries)).unref());
      }
    }
  };
  const turn = async (key: string, state: { again: boolean; attempt: Promise<void> }) => {
    do {
      state.again = false;
      await tried(key, (attempt) => void (state.attempt = attempt));
    } while (state.again && !isStopped);
    running.delete(key);
  };
  const ask = (key: string): void => {
    if (isStopped) return;
    const state = running.get(key);
    if (state) state.again = true;
    else {
      const fresh = { again: false, attempt: Promise.resolve() };
      running.set(key, fresh);
      void turn(key, fresh);
    }
  };
  return {
    ask,
    /** As `ask`, but does not wait for a try under way or the pause between two tries: a try may hang on another service. */
    askAtOnce(key: string) {
      const isUnderWay = running.has(key);
      ask(key);
      if (isUnderWay) void tried(key, () => undefined);
    },
    /** Waits for the present try, however it ends. */
    idle: async (key: string) => {
      await running.get(key)?.attempt.catch(() => undefined);
    },
    stop: () => void (isStopped = true),
  };
}
