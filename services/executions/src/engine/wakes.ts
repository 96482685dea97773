import type { Broker } from '@baton/broker';
import { buildMessage, eventsAppended, tasksCancelled } from '@baton/contracts';
import { backoffMs, type Clock, isoInstant, type Log } from '@baton/kernel';
import type { Wakes } from '../ports';

interface Work {
  drive(executionId: string): Promise<void>;
  deliver(executionIds: readonly string[]): Promise<void>;
  settle(executionId: string): Promise<void>;
  due(executionId: string): Promise<void>;
  dequeue(): Promise<void>;
  /** What may go on now that these have ended. */
  ended(executionIds: readonly string[]): Promise<void>;
  /** New events of this process, for its own streams. */
  streams(executionId: string): void;
}

/**
 * How long decided states are gathered before they are delivered: operations carry those that they must see, and the
 * end of a graph does not wait for this. Several states of one instance then are one write.
 */
const DELIVER_WINDOW_MS = 250;
/** How long the rows of delivered states wait for a step that forgets them. */
const SETTLE_MS = 500;
/** How long announcements of new events are gathered before one fanout message. */
const EVENTS_WINDOW_MS = 100;
/** Ends within this time of a look at what may follow share the next one. */
const ENDS_WINDOW_MS = 10;
/** Executions in one announcement. */
const MAX_ANNOUNCED = 100;
const MAX_TRIES = 5;

/**
 * Wake-ups inside this process, right after a commit. Work on one key runs one at a time, and once more when it was
 * asked for meanwhile. It is tried again a few times; what fails then is found by the loops.
 */
export function createWakes(
  deps: { broker: Broker; clock: Clock; log: Log },
  work: () => Work,
): Wakes & { stop(): void } {
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
      work().streams(executionId);
      announcer.add(executionId);
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

/** The next timer of each execution. */
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

/** Gathers executions whose states are to be delivered, for a moment. */
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

/** Runs `run` for all executions that were added since it began the last time; those of a run that failed go with the next one. */
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

/** Gathers the executions that have new events for a moment, and announces some of them with one message. */
function eventAnnouncer(deps: { broker: Broker; clock: Clock; log: Log }) {
  const announced = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  const send = () => {
    timer = null;
    const ids = [...announced];
    announced.clear();
    const time = isoInstant(deps.clock.now());
    const envelopes = [];
    for (let i = 0; i < ids.length; i += MAX_ANNOUNCED) {
      const executionIds = ids.slice(i, i + MAX_ANNOUNCED);
      envelopes.push(
        buildMessage(eventsAppended, { tenant: '', key: executionIds[0]!, time }, { executionIds }),
      );
    }
    // Streams poll as well, so a lost announcement only costs a moment.
    deps.broker
      .publish(envelopes)
      .catch((err: unknown) => deps.log.debug({ err }, 'events were not announced'));
  };
  return {
    add(executionId: string) {
      announced.add(executionId);
      timer ??= setTimeout(send, EVENTS_WINDOW_MS);
    },
    stop() {
      if (timer) clearTimeout(timer);
    },
  };
}

/** Runs `run` once, `delayMs` after the first of several wishes. */
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
  /** Until it succeeds or was tried often enough. */
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
    /** As `ask`, and does not wait for a try under way or what stands between two: those may hang on another service. */
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
