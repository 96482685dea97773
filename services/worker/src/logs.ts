import type { TaskEvent } from '@baton/contracts';
import { backoffMs, type Clock, isAppError, isoInstant, type Log, newId } from '@baton/kernel';
import type { EmitKind } from '@baton/plugin-runtime';
import type { ExecutionsClient } from './adapters/executions.client';

/**
 * Log lines and events of running operations on their way to the engine: in order and in batches per execution, one
 * batch of an execution under way at a time, repeated until answered (the engine knows a batch by its id). Memory is
 * bounded: above the limit `add` answers a promise and scripts wait with their output. Crash here: lines that were not
 * answered are lost together with their operation's attempt.
 */
export interface LogShipper {
  /** A promise: wait before adding more. Aborting `signal` ends the wait. */
  add(
    task: { taskId: string; executionId: string; signal: AbortSignal },
    kind: EmitKind,
    level: string,
    message: string,
  ): void | Promise<void>;
  /** Resolves when everything added for the execution so far is stored (or can never be); null: nothing is waiting. */
  flush(executionId: string): Promise<void> | null;
  /** Forgets unsent lines of an operation whose lease is gone. */
  drop(taskId: string, executionId: string): void;
}

export interface LogShipperDeps {
  executions: Pick<ExecutionsClient, 'appendEvents'>;
  clock: Clock;
  log: Log;
  /** Characters. */
  limit: number;
}

const BATCH_DELAY_MS = 100;
const MAX_BATCH_EVENTS = 500;
const MAX_BATCH_CHARS = 256 * 1024;
const RETRY = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };
/** A batch that the engine cannot take for a reason of its own is given up after this many tries. */
const MAX_REFUSALS = 8;

interface Stream {
  events: TaskEvent[];
  isSending: boolean;
  added: number;
  done: number;
  flushes: { upTo: number; resolve: () => void }[];
}

export function createLogShipper(deps: LogShipperDeps): LogShipper {
  const streams = new Map<string, Stream>();
  let held = 0;
  let timer: NodeJS.Timeout | null = null;
  let blocked: (() => void)[] = [];

  const freed = (chars: number): void => {
    held -= chars;
    if (held > deps.limit / 2) return;
    for (const go of blocked) go();
    blocked = [];
  };
  const settled = (executionId: string, stream: Stream, count: number): void => {
    stream.done += count;
    stream.flushes = stream.flushes.filter(({ upTo, resolve }) => {
      if (upTo > stream.done) return true;
      resolve();
      return false;
    });
    if (stream.done === stream.added) streams.delete(executionId);
  };

  const sendAll = (): void => {
    timer = null;
    for (const [executionId, stream] of streams) if (!stream.isSending) void send(executionId, stream);
  };
  const send = async (executionId: string, stream: Stream): Promise<void> => {
    stream.isSending = true;
    while (stream.events.length > 0) {
      const batch = nextBatch(stream.events);
      await deliver(deps, executionId, batch);
      freed(sizeOf(batch));
      settled(executionId, stream, batch.length);
    }
    stream.isSending = false;
  };

  return {
    add: (task, kind, level, message) => {
      let stream = streams.get(task.executionId);
      if (!stream) {
        stream = { events: [], isSending: false, added: 0, done: 0, flushes: [] };
        streams.set(task.executionId, stream);
      }
      const reportedAt = isoInstant(deps.clock.now());
      stream.events.push({
        taskId: task.taskId,
        kind,
        level,
        logger: `ctx.${task.taskId}`,
        message,
        reportedAt,
      });
      stream.added++;
      held += message.length;
      timer ??= setTimeout(sendAll, BATCH_DELAY_MS);
      if (held <= deps.limit || task.signal.aborted) return;
      return new Promise((resolve) => {
        blocked.push(resolve);
        task.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
    flush: (executionId) => {
      const stream = streams.get(executionId);
      if (!stream) return null;
      const stored = new Promise<void>((resolve) => stream.flushes.push({ upTo: stream.added, resolve }));
      if (!stream.isSending) void send(executionId, stream);
      return stored;
    },
    drop: (taskId, executionId) => {
      const stream = streams.get(executionId);
      if (!stream) return;
      const gone = stream.events.filter((event) => event.taskId === taskId);
      stream.events = stream.events.filter((event) => event.taskId !== taskId);
      freed(sizeOf(gone));
      settled(executionId, stream, gone.length);
    },
  };
}

const sizeOf = (events: readonly TaskEvent[]): number =>
  events.reduce((sum, event) => sum + event.message.length, 0);

function nextBatch(events: TaskEvent[]): TaskEvent[] {
  let count = 0;
  for (let chars = 0; count < events.length && count < MAX_BATCH_EVENTS; count++) {
    chars += events[count]?.message.length ?? 0;
    if (count > 0 && chars > MAX_BATCH_CHARS) break;
  }
  return events.splice(0, count);
}

/** Repeats one batch until the engine has it, or will never have it. */
async function deliver(
  deps: LogShipperDeps,
  executionId: string,
  batch: readonly TaskEvent[],
): Promise<void> {
  const batchId = newId();
  const json = JSON.stringify(batch);
  for (let tries = 1; ; tries++) {
    try {
      return await deps.executions.appendEvents(batchId, executionId, json);
    } catch (error) {
      const reason = (error as Error).message;
      const isLasting = isAppError(error) && error.entry.retryable;
      if (isAppError(error, 'not_found_error') || (!isLasting && tries >= MAX_REFUSALS)) {
        deps.log.error({ executionId, lines: batch.length, reason }, 'log lines given up');
        return;
      }
      deps.log.warn({ executionId, tries, reason }, 'log lines not stored; sent again');
      await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, RETRY)));
    }
  }
}
