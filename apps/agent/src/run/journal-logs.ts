/**
 * Sends log lines of running operations: in order and in batches for each execution, first into the journal, then to the manager.
 * While there is a stream, a chatty script waits with its output for the manager; without one its lines go to the disk.
 */
import type { TaskEvent } from '@baton/contracts';
import { backoffMs, type Clock, isAppError, isoInstant, type Log, newId } from '@baton/kernel';
import type { ExecutionsClient, LogShipper } from '@baton/worker/parts';
import type { LineBatch, LineJournal } from '../journal/line-journal';

export interface JournalLogsDeps {
  lines: LineJournal;
  executions: Pick<ExecutionsClient, 'appendEvents'>;
  clock: Clock;
  log: Log;
  isOpen(): boolean;
}

export interface JournalLogs extends LogShipper {
  /** There is a stream: lines that wait are sent. */
  opened(): void;
  /** There is none: scripts do not wait any more. */
  closed(): void;
  /** Lines of this execution did not fit into the journal. */
  dropped(executionId: string, count: number): void;
}

const BATCH_DELAY_MS = 100;
const MAX_BATCH_EVENTS = 500;
const MAX_BATCH_CHARS = 128 * 1024;
/** Characters that the manager has not acknowledged; beyond them scripts wait. */
const MOST_UNTAKEN = 256 * 1024;
/** Characters that a line costs besides its text. */
const LINE_CHARS = 200;
const RETRY = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };
/** A batch that the manager refuses is given up after this many tries. */
const MAX_REFUSALS = 8;

interface Queued extends LineBatch {
  chars: number;
  /** Null: to be read from the journal. */
  events: TaskEvent[] | null;
  stored: Promise<boolean>;
}

interface Stream {
  pending: TaskEvent[];
  pendingChars: number;
  queue: Queued[];
  isSending: boolean;
  added: number;
  done: number;
  /** Lines that did not fit and that nobody was told of yet. */
  gap: number;
  flushes: { upTo: number; resolve: () => void }[];
  lease: { readonly proof: string } | undefined;
  /** Of its last line. */
  last: Pick<TaskEvent, 'taskId' | 'logger'> | null;
}

export function createJournalLogs(deps: JournalLogsDeps): JournalLogs {
  return new Logs(deps);
}

class Logs implements JournalLogs {
  readonly #deps: JournalLogsDeps;
  readonly #streams = new Map<string, Stream>();
  readonly #waiting = new Set<() => void>();
  #untaken = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: JournalLogsDeps) {
    this.#deps = deps;
    for (const batch of deps.lines.left()) {
      const stream = this.#streamOf(batch.executionId);
      stream.queue.push({ ...batch, chars: 0, events: null, stored: Promise.resolve(true) });
      stream.added += batch.count;
    }
  }

  add: LogShipper['add'] = (task, kind, level, message) => {
    const { taskId, executionId, logger = `ctx.${taskId}` } = task;
    const stream = this.#streamOf(executionId);
    stream.lease = task.lease ?? stream.lease;
    stream.last = { taskId, logger };
    const reportedAt = isoInstant(this.#deps.clock.now());
    stream.pending.push({ taskId, kind, level, logger, message, reportedAt });
    stream.pendingChars += message.length + LINE_CHARS;
    stream.added++;
    this.#untaken += message.length + LINE_CHARS;
    if (stream.pendingChars >= MAX_BATCH_CHARS) this.#cut(executionId, stream);
    else this.#timer ??= setTimeout(() => this.#cutAll(), BATCH_DELAY_MS);
    if (this.#untaken > MOST_UNTAKEN && this.#deps.isOpen() && !task.signal.aborted)
      return this.#room(task.signal);
  };

  flush: LogShipper['flush'] = (executionId) => {
    const stream = this.#streams.get(executionId);
    if (!stream) return null;
    const flushed = new Promise<void>((resolve) => stream.flushes.push({ upTo: stream.added, resolve }));
    this.#cut(executionId, stream);
    this.#settle(executionId, stream);
    return flushed;
  };

  drop: LogShipper['drop'] = (taskId, executionId) => {
    const stream = this.#streams.get(executionId);
    if (!stream) return;
    const kept = stream.pending.filter((event) => event.taskId !== taskId);
    const gone = stream.pending.length - kept.length;
    this.#free(costOf(stream.pending) - costOf(kept));
    stream.pending = kept;
    stream.pendingChars = costOf(kept);
    stream.done += gone;
    this.#settle(executionId, stream);
  };

  opened(): void {
    for (const [executionId, stream] of this.#streams) void this.#send(executionId, stream);
  }

  closed(): void {
    for (const go of [...this.#waiting]) go();
  }

  dropped(executionId: string, count: number): void {
    const stream = this.#streamOf(executionId);
    stream.gap += count;
    stream.done += count;
    this.#settle(executionId, stream);
  }

  #streamOf(executionId: string): Stream {
    const known = this.#streams.get(executionId);
    if (known) return known;
    const stream: Stream = {
      pending: [],
      pendingChars: 0,
      queue: [],
      isSending: false,
      added: 0,
      done: 0,
      gap: 0,
      flushes: [],
      lease: undefined,
      last: null,
    };
    this.#streams.set(executionId, stream);
    return stream;
  }

  #room(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        this.#waiting.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', go, { once: true });
    });
  }

  #free(chars: number): void {
    this.#untaken -= chars;
    if (this.#untaken <= MOST_UNTAKEN / 2) for (const go of [...this.#waiting]) go();
  }

  #cutAll(): void {
    this.#timer = undefined;
    for (const [executionId, stream] of this.#streams) this.#cut(executionId, stream);
  }

  /** Makes batches of the new lines, stores them and sends them. */
  #cut(executionId: string, stream: Stream): void {
    while (stream.pending.length > 0) {
      const events = nextBatch(stream.pending);
      const chars = costOf(events);
      stream.pendingChars -= chars;
      const proof = stream.lease?.proof ?? '';
      const batch = { id: newId(), executionId, proof, count: events.length };
      const stored = this.#deps.lines.add(batch, events);
      // Without a stream they are only on the disk.
      const isKept = this.#deps.isOpen();
      if (!isKept) this.#free(chars);
      stream.queue.push({ ...batch, chars: isKept ? chars : 0, events: isKept ? events : null, stored });
    }
    void this.#send(executionId, stream);
  }

  async #send(executionId: string, stream: Stream): Promise<void> {
    if (stream.isSending) return;
    stream.isSending = true;
    try {
      for (let batch = stream.queue[0]; batch && this.#deps.isOpen(); batch = stream.queue[0]) {
        const events = batch.events ?? (await this.#stored(executionId, batch));
        // Sent while they are written: a batch that comes twice after a crash is taken once.
        const isOver = events.length === 0 || (await this.#deliver(stream, batch, events));
        if (!isOver) continue;
        const isStored = await batch.stored;
        stream.queue.shift();
        // Lines that were dropped are counted where they were dropped.
        stream.done += events.length;
        if (isStored) this.#deps.lines.taken(batch.id);
        this.#free(batch.chars);
        this.#tellGap(executionId, stream);
        this.#settle(executionId, stream);
      }
    } finally {
      stream.isSending = false;
    }
  }

  /** Lines that are only on the disk; none where they did not fit. */
  async #stored(executionId: string, batch: Queued): Promise<readonly TaskEvent[]> {
    if (await batch.stored) return await this.#deps.lines.read(batch.id);
    this.#deps.lines.drop(executionId, batch.count);
    return [];
  }

  /** Says in the log of the execution how many lines are missing. */
  #tellGap(executionId: string, stream: Stream): void {
    if (stream.gap === 0 || !stream.last) return;
    const message = `${stream.gap} lines did not fit into the journal of the agent`;
    stream.gap = 0;
    const reportedAt = isoInstant(this.#deps.clock.now());
    stream.pending.unshift({ ...stream.last, kind: 'log', level: 'warning', message, reportedAt });
    stream.pendingChars += message.length + LINE_CHARS;
    this.#untaken += message.length + LINE_CHARS;
    stream.added++;
    this.#cut(executionId, stream);
  }

  /** True: the manager has the batch, or never takes it. False: to be tried again. */
  async #deliver(stream: Stream, batch: Queued, events: readonly TaskEvent[]): Promise<boolean> {
    const json = JSON.stringify(events);
    const lease = stream.lease ?? (batch.proof === '' ? undefined : { proof: batch.proof });
    for (let tries = 1; this.#deps.isOpen(); tries++) {
      try {
        await this.#deps.executions.appendEvents(batch.id, batch.executionId, json, lease);
        return true;
      } catch (error) {
        const reason = (error as Error).message;
        const isLasting = isAppError(error) && error.entry.retryable;
        if (isAppError(error, 'not_found_error') || (!isLasting && tries >= MAX_REFUSALS)) {
          this.#deps.log.error(
            { executionId: batch.executionId, lines: events.length, reason },
            'log lines given up',
          );
          return true;
        }
        await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, RETRY)));
      }
    }
    return false;
  }

  #settle(executionId: string, stream: Stream): void {
    stream.flushes = stream.flushes.filter(({ upTo, resolve }) => {
      if (upTo > stream.done) return true;
      resolve();
      return false;
    });
    if (stream.done >= stream.added && stream.gap === 0 && stream.queue.length === 0)
      this.#streams.delete(executionId);
  }
}

const costOf = (events: readonly TaskEvent[]): number =>
  events.reduce((sum, event) => sum + event.message.length + LINE_CHARS, 0);

function nextBatch(events: TaskEvent[]): TaskEvent[] {
  let count = 0;
  for (let chars = 0; count < events.length && count < MAX_BATCH_EVENTS; count++) {
    chars += (events[count]?.message.length ?? 0) + LINE_CHARS;
    if (count > 0 && chars > MAX_BATCH_CHARS) break;
  }
  return events.splice(0, count);
}
