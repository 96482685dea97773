/**
 * Log lines on the disk that the manager has not taken: segments of batches. Above the bound, lines are dropped: those of the
 * level debug first, the oldest first; they are counted.
 */
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TaskEvent, taskEvent } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { z } from 'zod';
import { createRecordFile, frameOf, type RecordFile, scanRecords } from './record-file';

/** A batch of lines of one execution; the manager knows it by its id and takes it once. */
export interface LineBatch {
  id: string;
  executionId: string;
  /** Proof of a lease of the execution when the lines were written. */
  proof: string;
  count: number;
}

interface Stored extends LineBatch {
  events: TaskEvent[];
}

type Entry = { t: 'lines'; batch: Stored } | { t: 'taken'; id: string };

const storedEntry = z.union([
  z.object({
    t: z.literal('lines'),
    batch: z.object({
      id: z.string(),
      executionId: z.string(),
      proof: z.string(),
      count: z.number(),
      events: z.array(taskEvent),
    }),
  }),
  z.object({ t: z.literal('taken'), id: z.string() }),
]);

const SEGMENT_BYTES = 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;

interface Segment {
  path: string;
  bytes: number;
  batches: Set<string>;
  /** Absent: nothing more is appended. */
  file: RecordFile | null;
  /** Its debug lines are dropped already. */
  isStripped: boolean;
}

export interface LineJournal {
  /** Batches of earlier lives of the agent, in their order. */
  left(): LineBatch[];
  /** Stores a batch. False: there is no room for it on the disk. */
  add(batch: LineBatch, events: readonly TaskEvent[]): Promise<boolean>;
  /** Returns the lines of a batch that are still there. */
  read(id: string): Promise<TaskEvent[]>;
  taken(id: string): void;
  /** Counts lines that are lost. */
  drop(executionId: string, count: number): void;
  /** Lines that are stored. */
  readonly waiting: number;
  /** Lines that were dropped since the start. */
  readonly dropped: number;
  close(): Promise<void>;
}

interface Deps {
  dir: string;
  log: Log;
  /** Called for lines that did not fit. */
  onDropped(executionId: string, count: number): void;
  /** For tests. */
  mostBytes?: number;
  segmentBytes?: number;
}

/** @throws Error of the disk when the folder cannot be read */
export async function openLineJournal(deps: Deps): Promise<LineJournal> {
  await mkdir(deps.dir, { recursive: true, mode: 0o700 });
  const journal = new Lines(deps);
  const files = (await readdir(deps.dir)).filter((name) => /^lines-\d+\.log$/.test(name)).sort();
  for (const name of files) await journal.restore(name);
  return journal;
}

class Lines implements LineJournal {
  readonly #deps: Deps;
  readonly #segments: Segment[] = [];
  readonly #batches = new Map<string, LineBatch & { segment: Segment }>();
  #number = 0;
  #working: Promise<unknown> = Promise.resolve();
  waiting = 0;
  dropped = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async restore(name: string): Promise<void> {
    const path = join(this.#deps.dir, name);
    this.#number = Math.max(this.#number, Number(/\d+/.exec(name)![0]));
    const data = await readFile(path);
    const scan = scanRecords(data);
    const segment: Segment = { path, bytes: data.length, batches: new Set(), file: null, isStripped: false };
    for (const entry of entriesOf(scan.records))
      if (entry.t === 'taken') this.#forget(entry.id);
      else this.#remember(entry.batch, segment);
    if (scan.isDamaged) {
      this.#deps.log.error(
        { file: `${path}.damaged` },
        'LOG LINES IN THE JOURNAL ARE DAMAGED: some cannot be read',
      );
      await copyFile(path, `${path}.damaged`);
      await this.#rewrite(segment, () => true);
    }
    this.#segments.push(segment);
    await this.#removeEmpty();
  }

  left(): LineBatch[] {
    return [...this.#batches.values()].map(({ id, executionId, proof, count }) => ({
      id,
      executionId,
      proof,
      count,
    }));
  }

  add(batch: LineBatch, events: readonly TaskEvent[]): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        const segment = await this.#current();
        const payload = bytesOf({ t: 'lines', batch: { ...batch, events: [...events] } });
        await segment.file!.append(payload, { isSynced: false });
        segment.bytes = segment.file!.bytes;
        this.#remember({ ...batch, events: [...events] }, segment);
        await this.#keepBound();
        return this.#batches.has(batch.id);
      } catch (error) {
        this.#deps.log.warn({ reason: (error as Error).message }, 'log lines do not fit on the disk');
        return false;
      }
    });
  }

  read(id: string): Promise<TaskEvent[]> {
    return this.#inTurn(async () => {
      const known = this.#batches.get(id);
      if (!known) return [];
      for (const entry of entriesOf(scanRecords(await readFile(known.segment.path)).records))
        if (entry.t === 'lines' && entry.batch.id === id) return entry.batch.events;
      return [];
    });
  }

  taken(id: string): void {
    const known = this.#batches.get(id);
    if (!known) return;
    this.#forget(id);
    void this.#inTurn(async () => {
      const { segment } = known;
      if (segment.batches.size > 0 && segment.file)
        await segment.file.append(bytesOf({ t: 'taken', id }), { isSynced: false });
      await this.#removeEmpty();
    }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#working;
    await this.#removeEmpty('all');
    for (const { file } of this.#segments) await file?.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => undefined);
    return done;
  }

  async #current(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last?.file && last.bytes < (this.#deps.segmentBytes ?? SEGMENT_BYTES)) return last;
    if (last?.file) {
      await last.file.close();
      last.file = null;
    }
    const path = join(this.#deps.dir, `lines-${String(++this.#number).padStart(8, '0')}.log`);
    await rm(path, { force: true });
    const file = await createRecordFile(path, [], null);
    const segment: Segment = { path, bytes: 0, batches: new Set(), file, isStripped: false };
    this.#segments.push(segment);
    return segment;
  }

  #remember(batch: Stored, segment: Segment): void {
    const { id, executionId, proof, count } = batch;
    this.#batches.set(id, { id, executionId, proof, count, segment });
    segment.batches.add(id);
    this.waiting += count;
  }

  #forget(id: string): void {
    const known = this.#batches.get(id);
    if (!known) return;
    this.#batches.delete(id);
    known.segment.batches.delete(id);
    this.waiting -= known.count;
  }

  drop(executionId: string, count: number): void {
    this.dropped += count;
    this.#deps.onDropped(executionId, count);
  }

  /** Removes segments whose lines are all taken; the one that is written to only when it is long, or with `all`. */
  async #removeEmpty(which: 'closed' | 'all' = 'closed'): Promise<void> {
    const limit = this.#deps.segmentBytes ?? SEGMENT_BYTES;
    for (const segment of [...this.#segments]) {
      if (segment.batches.size > 0 || (segment.file && which === 'closed' && segment.bytes < limit / 4))
        continue;
      await segment.file?.close();
      segment.file = null;
      await rm(segment.path, { force: true });
      this.#segments.splice(this.#segments.indexOf(segment), 1);
    }
  }

  async #keepBound(): Promise<void> {
    const most = this.#deps.mostBytes ?? MOST_BYTES;
    const total = (): number => this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
    while (total() > most) {
      const closed = this.#segments.filter(({ file }) => file === null);
      const next = closed.find(({ isStripped }) => !isStripped);
      if (next) await this.#rewrite(next, ({ level }) => level !== 'debug');
      else if (closed[0]) await this.#rewrite(closed[0], () => false);
      else return;
      await this.#removeEmpty();
    }
  }

  /** Writes a closed segment anew with the lines that are kept. */
  async #rewrite(segment: Segment, isKept: (event: TaskEvent) => boolean): Promise<void> {
    const kept: Buffer[] = [];
    for (const entry of entriesOf(scanRecords(await readFile(segment.path)).records)) {
      if (entry.t === 'taken' || !segment.batches.has(entry.batch.id)) continue;
      const events = entry.batch.events.filter(isKept);
      const gone = entry.batch.events.length - events.length;
      this.#forget(entry.batch.id);
      if (gone > 0) this.drop(entry.batch.executionId, gone);
      if (events.length === 0) continue;
      const batch = { ...entry.batch, events, count: events.length };
      this.#remember(batch, segment);
      kept.push(frameOf(bytesOf({ t: 'lines', batch })));
    }
    segment.isStripped = true;
    segment.bytes = kept.reduce((sum, { length }) => sum + length, 0);
    if (kept.length === 0) return;
    const part = `${segment.path}.part`;
    await writeFile(part, Buffer.concat(kept), { mode: 0o600 });
    await rename(part, segment.path);
    segment.bytes = (await stat(segment.path)).size;
  }
}

const bytesOf = (entry: Entry): Buffer => Buffer.from(JSON.stringify(entry));

function entriesOf(records: readonly Buffer[]): Entry[] {
  return records.flatMap((record) => {
    const read = storedEntry.safeParse(JSON.parse(record.toString('utf8')));
    return read.success ? [read.data as Entry] : [];
  });
}
