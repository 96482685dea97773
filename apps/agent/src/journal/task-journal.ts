/**
 * What the agent must not forget: which operations have begun, and the outcomes that the manager has not taken. An operation
 * starts only when its beginning is on the disk; an outcome is reported only when it is, except on a full disk, where it is kept
 * in memory as a last resort.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { executionsRpc } from '@baton/contracts';
import { type Clock, isoInstant, type Log } from '@baton/kernel';
import { bootId, type GroupRef, killGroup, startOf } from './process-groups';
import { createRecordFile, isFull, type RecordFile, reopenRecordFile, scanRecords } from './record-file';

export interface JournaledTask {
  taskId: string;
  executionId: string;
  attempt: number;
  tenant: string;
  startedAt: string;
  /** Null: it has begun, and nothing is known of its end. */
  outcome: executionsRpc.TaskOutcome | null;
}

type Entry =
  | { t: 'begin'; task: Omit<JournaledTask, 'outcome'>; boot: string }
  | { t: 'outcome'; id: string; attempt: number; outcome: executionsRpc.TaskOutcome }
  | { t: 'done'; id: string; attempt: number }
  | { t: 'group'; pid: number; start: string; boot: string }
  | { t: 'ungroup'; pid: number };

/** Room that is kept for the outcome of each running operation, and for the notes beside it. */
const RESERVE_PER_TASK = 72 * 1024;
const FIRST_ROOM = 512 * 1024;
/** From this size on the file is written anew with what still counts. */
const COMPACT_BYTES = 1024 * 1024;

export interface TaskJournal {
  /** Operations that have begun and whose outcomes are not taken. */
  all(): JournaledTask[];
  /** Whether the disk refused the last beginning. */
  isFull(): boolean;
  /** Looks whether there is room for an operation. */
  hasRoom(): Promise<boolean>;
  /** @throws Error of the disk: the operation must not start */
  begin(task: Omit<JournaledTask, 'outcome'>): Promise<void>;
  /** Records the outcome; false: there was no room, and it is kept in memory only. */
  ended(taskId: string, outcome: executionsRpc.TaskOutcome): Promise<boolean>;
  /** The manager has taken the outcome, or does not want it. */
  done(taskId: string, attempt: number): void;
  group(pid: number): void;
  ungroup(pid: number): void;
  close(): Promise<void>;
}

interface Deps {
  dir: string;
  clock: Clock;
  log: Log;
  /** For tests. */
  compactBytes?: number;
}

/**
 * Opens the journal and kills the process groups of an earlier life of the agent. @throws Error of the disk when there is no
 * journal and none can be made
 */
export async function openTaskJournal(deps: Deps): Promise<TaskJournal> {
  await mkdir(deps.dir, { recursive: true, mode: 0o700 });
  const state = new State();
  const files = (await readdir(deps.dir)).filter((name) => /^tasks-\d+\.log$/.test(name)).sort();
  let last = 0;
  let old: { path: string; end: number } | null = null;
  for (const name of files) {
    const path = join(deps.dir, name);
    last = Math.max(last, Number(/\d+/.exec(name)![0]));
    const scan = scanRecords(await readFile(path));
    for (const record of scan.records) state.apply(JSON.parse(record.toString('utf8')) as Entry);
    if (scan.isTorn)
      deps.log.info({ file: name }, 'the last record of the journal was not written whole; it never counted');
    if (scan.isDamaged) await quarantine(deps, name);
    else old = { path, end: scan.end };
  }
  killLeft(deps, state);
  const journal = new Journal(deps, state, last);
  await journal.start(old);
  return journal;
}

async function quarantine({ dir, clock, log }: Deps, name: string): Promise<void> {
  const kept = `${name}.damaged-${isoInstant(clock.now()).replaceAll(/[:.]/g, '')}`;
  await rename(join(dir, name), join(dir, kept));
  log.error(
    { file: join(dir, kept) },
    'THE JOURNAL IS DAMAGED: records in its middle cannot be read; the good ones are used, and outcomes may be missing',
  );
}

function killLeft({ log }: Deps, state: State): void {
  const boot = bootId();
  for (const { pid, start, boot: then } of state.groups.values())
    if (then === boot && killGroup({ pid, start }))
      log.warn({ pid }, 'processes of an operation outlived the agent; they were killed');
  state.groups.clear();
}

class State {
  readonly tasks = new Map<string, JournaledTask & { boot: string }>();
  readonly groups = new Map<number, GroupRef & { boot: string }>();

  apply(entry: Entry): void {
    if (entry.t === 'begin')
      this.tasks.set(entry.task.taskId, { ...entry.task, outcome: null, boot: entry.boot });
    else if (entry.t === 'group') this.groups.set(entry.pid, entry);
    else if (entry.t === 'ungroup') this.groups.delete(entry.pid);
    else {
      const task = this.tasks.get(entry.id);
      if (task?.attempt !== entry.attempt) return;
      if (entry.t === 'done') this.tasks.delete(entry.id);
      else task.outcome = executionsRpc.TaskOutcome.fromPartial(entry.outcome);
    }
  }

  entries(): Entry[] {
    const tasks = [...this.tasks.values()].flatMap(({ outcome, boot, ...task }): Entry[] => [
      { t: 'begin', task, boot },
      ...(outcome ? [outcomeEntry(outcome)] : []),
    ]);
    return [...tasks, ...[...this.groups.values()].map((group): Entry => ({ ...group, t: 'group' }))];
  }
}

const outcomeEntry = (outcome: executionsRpc.TaskOutcome): Entry => ({
  t: 'outcome',
  id: outcome.taskId,
  attempt: outcome.attempt,
  outcome,
});

const bytesOf = (entry: Entry): Buffer => Buffer.from(JSON.stringify(entry));

class Journal implements TaskJournal {
  readonly #deps: Deps;
  readonly #state: State;
  readonly #boot = bootId();
  #number: number;
  #file!: RecordFile;
  #isFull = false;
  #changing: Promise<void> = Promise.resolve();
  readonly #writing = new Set<Promise<void>>();

  constructor(deps: Deps, state: State, number: number) {
    this.#deps = deps;
    this.#state = state;
    this.#number = number;
  }

  /** Writes a fresh file; on a full disk it goes on with the old one. */
  async start(old: { path: string; end: number } | null): Promise<void> {
    try {
      await this.#renew();
    } catch (error) {
      if (!isFull(error) || !old) throw error;
      this.#deps.log.error(
        { reason: (error as Error).message },
        'the disk is full: the journal is not written anew',
      );
      this.#file = await reopenRecordFile(old.path, old.end);
    }
  }

  all(): JournaledTask[] {
    return [...this.#state.tasks.values()];
  }

  isFull(): boolean {
    return this.#isFull;
  }

  async hasRoom(): Promise<boolean> {
    try {
      await this.#write({ t: 'ungroup', pid: 0 }, { isSynced: true, keepFree: this.#reserve() });
      this.#isFull = false;
    } catch {
      this.#isFull = true;
    }
    return !this.#isFull;
  }

  async begin(task: Omit<JournaledTask, 'outcome'>): Promise<void> {
    const entry: Entry = { t: 'begin', task, boot: this.#boot };
    try {
      await this.#write(entry, { isSynced: true, keepFree: this.#reserve() });
      this.#isFull = false;
    } catch (error) {
      this.#isFull = true;
      throw error;
    }
    void this.#compactWhenLarge();
  }

  async ended(taskId: string, outcome: executionsRpc.TaskOutcome): Promise<boolean> {
    const task = this.#state.tasks.get(taskId);
    if (!task) return true;
    try {
      await this.#write(outcomeEntry(outcome), { isSynced: true });
      return true;
    } catch (error) {
      task.outcome = outcome;
      this.#deps.log.error(
        { taskId, reason: (error as Error).message },
        'the outcome of an operation does not fit into the journal; it is kept in memory until it is reported',
      );
      return false;
    }
  }

  done(taskId: string, attempt: number): void {
    this.#note({ t: 'done', id: taskId, attempt });
  }

  group(pid: number): void {
    this.#note({ t: 'group', pid, start: startOf(pid), boot: this.#boot });
  }

  ungroup(pid: number): void {
    if (this.#state.groups.has(pid)) this.#note({ t: 'ungroup', pid });
  }

  async close(): Promise<void> {
    await this.#changing;
    await this.#file.close();
  }

  /** Room for the outcomes of the running operations and of one more. */
  #reserve(): number {
    const running = [...this.#state.tasks.values()].filter(({ outcome }) => !outcome).length;
    return (running + 1) * RESERVE_PER_TASK;
  }

  /** Notes need not survive a loss of power: without one, an outcome is reported twice, and refused. */
  #note(entry: Entry): void {
    this.#state.apply(entry);
    this.#file.append(bytesOf(entry), { isSynced: false }).catch(() => undefined);
  }

  async #write(entry: Entry, o: { isSynced: boolean; keepFree?: number }): Promise<void> {
    await this.#changing;
    const writing = this.#file.append(bytesOf(entry), o).then(() => this.#state.apply(entry));
    this.#writing.add(writing);
    await writing.finally(() => this.#writing.delete(writing));
  }

  async #compactWhenLarge(): Promise<void> {
    if (this.#file.bytes < (this.#deps.compactBytes ?? COMPACT_BYTES)) return;
    this.#changing = this.#changing.then(() => this.#compact());
    await this.#changing;
  }

  async #compact(): Promise<void> {
    await Promise.allSettled(this.#writing);
    const live = this.#state.entries().reduce((sum, entry) => sum + bytesOf(entry).length, 0);
    if (this.#file.bytes < (this.#deps.compactBytes ?? COMPACT_BYTES) || live * 2 > this.#file.bytes) return;
    const former = this.#file;
    try {
      await this.#renew();
      await former.close();
    } catch (error) {
      this.#deps.log.warn({ reason: (error as Error).message }, 'the journal is not written anew');
    }
  }

  /** Writes what still counts into a new file, and removes the older ones once it is certain. */
  async #renew(): Promise<void> {
    const { dir } = this.#deps;
    const name = `tasks-${String(++this.#number).padStart(8, '0')}.log`;
    const part = join(dir, `${name}.part`);
    await rm(part, { force: true });
    let file: RecordFile;
    try {
      file = await createRecordFile(part, this.#state.entries().map(bytesOf), FIRST_ROOM);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    await rename(part, join(dir, name));
    await syncFolder(dir);
    this.#file = file;
    for (const other of await readdir(dir))
      if (/^tasks-\d+\.log(\.part)?$/.test(other) && other !== name)
        await rm(join(dir, other), { force: true });
  }
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  await handle.sync().finally(() => handle.close());
}
