import type { TaskEvent } from '@baton/contracts';
import { backoffMs, type Clock, isAppError, isoInstant, type Log, newId } from '@baton/kernel';
import type { EmitKind } from '@baton/plugin-runtime';
import type { HeldProof } from '@baton/rpc';
import type { ExecutionsClient } from '../adapters/executions.client';
import { createLineRoom } from './line-room';

/**
 * Sends log lines and events of running operations to the engine: in order and in batches per execution. An execution has one
 * batch under way at a time, which is repeated until answered (the engine recognizes a batch by its id). Memory is bounded: above
 * the limit, `add` returns a promise to executions with more than their share, and their scripts wait with their output. Crash
 * here: lines that were not answered are lost together with their operation's attempt.
 */
export interface LogShipper {
  /** Adds a line. Returns a promise when the caller must wait before adding more. Aborting `signal` ends the wait. */
  add(
    task: { taskId: string; executionId: string; signal: AbortSignal; logger?: string; lease?: HeldProof },
    kind: EmitKind,
    level: string,
    message: string,
  ): void | Promise<void>;
  /** Resolves when all lines added for the execution so far are stored (or can never be); null when nothing waits. */
  flush(executionId: string): Promise<void> | null;
  /** Drops unsent lines of an operation whose lease is lost. */
  drop(taskId: string, executionId: string): void;
}

export interface LogShipperDeps {
  executions: Pick<ExecutionsClient, 'appendEvents'>;
  clock: Clock;
  log: Log;
  /** Characters, for all executions together. */
  limit: number;
}

const BATCH_DELAY_MS = 100;
const MAX_BATCH_EVENTS = 500;
const MAX_BATCH_CHARS = 256 * 1024;
const RETRY = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };
/** A batch that the engine refuses is given up after this many tries. */
const MAX_REFUSALS = 8;

/** The lines of one execution; `added` and `done` count all lines since its stream began. */
interface Stream {
  events: TaskEvent[];
  isSending: boolean;
  added: number;
  done: number;
  flushes: { upTo: number; resolve: () => void }[];
  /** Lease of an operation of this execution: proves that this worker may report about it. */
  lease: HeldProof | undefined;
}

export function createLogShipper(deps: LogShipperDeps): LogShipper {
  const streams = new Map<string, Stream>();
  const room = createLineRoom(deps.limit);

  const settled = (executionId: string, stream: Stream, gone: readonly TaskEvent[]): void => {
    room.free(executionId, sizeOf(gone));
    stream.done += gone.length;
    endFlushes(stream);
    if (stream.done === stream.added) streams.delete(executionId);
  };
  const send = async (executionId: string, stream: Stream): Promise<void> => {
    if (stream.isSending) return;
    stream.isSending = true;
    while (stream.events.length > 0) {
      const batch = nextBatch(stream.events);
      await deliver(deps, executionId, batch, stream.lease);
      settled(executionId, stream, batch);
    }
    stream.isSending = false;
  };
  const sendSoon = onceSoon(BATCH_DELAY_MS, () => {
    for (const [executionId, stream] of streams) void send(executionId, stream);
  });

  return {
    add: (task, kind, level, message) => {
      const reportedAt = isoInstant(deps.clock.now());
      const logger = task.logger ?? `ctx.${task.taskId}`;
      const stream = streamOf(streams, task.executionId);
      stream.lease = task.lease ?? stream.lease;
      stream.events.push({ taskId: task.taskId, kind, level, logger, message, reportedAt });
      stream.added++;
      sendSoon();
      return room.use(task.executionId, costOf(message), task.signal);
    },
    flush: (executionId) => {
      const stream = streams.get(executionId);
      if (!stream) return null;
      const stored = new Promise<void>((resolve) => stream.flushes.push({ upTo: stream.added, resolve }));
      void send(executionId, stream);
      return stored;
    },
    drop: (taskId, executionId) => {
      const stream = streams.get(executionId);
      if (!stream) return;
      const gone = stream.events.filter((event) => event.taskId === taskId);
      stream.events = stream.events.filter((event) => event.taskId !== taskId);
      settled(executionId, stream, gone);
    },
  };
}

function streamOf(streams: Map<string, Stream>, executionId: string): Stream {
  const known = streams.get(executionId);
  if (known) return known;
  const stream: Stream = { events: [], isSending: false, added: 0, done: 0, flushes: [], lease: undefined };
  streams.set(executionId, stream);
  return stream;
}

/** Resolves the flushes whose lines are all stored, or given up. */
function endFlushes(stream: Stream): void {
  stream.flushes = stream.flushes.filter(({ upTo, resolve }) => {
    if (upTo > stream.done) return true;
    resolve();
    return false;
  });
}

/** Returns a function that runs `run` with this delay after the first call; calls until then share the same run. */
function onceSoon(delayMs: number, run: () => void): () => void {
  let hasTimer = false;
  return () => {
    if (hasTimer) return;
    hasTimer = true;
    setTimeout(() => {
      hasTimer = false;
      run();
    }, delayMs);
  };
}

/** Characters that a line costs in memory and on its way, in addition to its text. */
const LINE_CHARS = 200;
const costOf = (message: string): number => message.length + LINE_CHARS;
const sizeOf = (events: readonly TaskEvent[]): number =>
  events.reduce((sum, event) => sum + costOf(event.message), 0);

function nextBatch(events: TaskEvent[]): TaskEvent[] {
  let count = 0;
  for (let chars = 0; count < events.length && count < MAX_BATCH_EVENTS; count++) {
    chars += events[count]?.message.length ?? 0;
    if (count > 0 && chars > MAX_BATCH_CHARS) break;
  }
  return events.splice(0, count);
}

/** Repeats one batch until the engine has stored it, or never will. */
async function deliver(
  deps: LogShipperDeps,
  executionId: string,
  batch: readonly TaskEvent[],
  lease: HeldProof | undefined,
): Promise<void> {
  const batchId = newId();
  const json = JSON.stringify(batch);
  for (let tries = 1; ; tries++) {
    try {
      return await deps.executions.appendEvents(batchId, executionId, json, lease);
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
