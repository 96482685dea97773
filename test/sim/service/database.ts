import type { Envelope } from '@baton/contracts';
import { AppError, isoInstant } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { GraphFlags } from '@baton/task-graph';
import type { TaskMarks } from '../../../services/executions/src/engine/store/task-document';
import type { ExecutionGroupRow } from '../../../services/executions/src/groups/store/execution-groups.sql';
import type {
  OccurrenceOutcome,
  ScheduleRow,
} from '../../../services/executions/src/schedules/domain/schedule';
import type { ExecutionRow, InstanceStateRow, StoredTask } from '../../../services/executions/src/store/rows';
import type { DB } from '../../../services/executions/src/store/tables.gen';
import { applyStep, type StepInput } from './apply-step';
import type { Life, VirtualWorld } from './virtual';

/**
 * The tables of the engine in memory, with the guarantees of PostgreSQL: a lock per execution, held until the end of the
 * transaction; writes invisible to others before the commit; a commit that may be refused, or made with its answer lost; a crash
 * of the process that rolls its transaction back. Rows are replaced, never changed in place.
 */
export interface MemoryTask extends StoredTask {
  leaseUntilMs: number | null;
  dispatchedMs: number | null;
  isKillRequested: boolean;
}

export interface MemoryGraph {
  id: string;
  name: string;
  created_at: string;
  wait_after_fail_ms: number;
  is_dry_run: boolean;
  flags: GraphFlags;
  /** All tasks as one document; null: each task has a row. */
  tasks: Buffer | null;
  /** Marks that steps made on tasks without rows, oldest first. */
  marks: TaskMarks[];
}

export interface MemoryExecution {
  row: ExecutionRow;
  graphs: MemoryGraph[];
  tasks: Map<string, MemoryTask>;
  states: (InstanceStateRow & { createdMs: number })[];
  events: { seq: number; type: string }[];
  resumes: number;
}

/** A row of `schedule_occurrences`. */
export interface MemoryOccurrence {
  key: string;
  occurrence: string;
  outcome: OccurrenceOutcome;
  reason: string | null;
  execution_id: string | null;
  decided_at: string;
}

type Change = (execution: MemoryExecution) => void;

interface Held {
  /** The execution as this transaction sees it. */
  seen: MemoryExecution;
  changes: Change[];
  release: () => void;
}

export interface MemoryTx {
  database: MemoryDatabase;
  held: Map<string, Held>;
  /** Locks other than those of executions, by name; also held until the end of the transaction. */
  named: Map<string, () => void>;
  /** Changes of rows that are not protected by the lock of their execution. */
  others: (() => void)[];
  messages: Envelope[];
  isResuming: boolean;
}

export interface MemoryDatabase {
  world: VirtualWorld;
  executions: Map<string, MemoryExecution>;
  groups: Map<string, ExecutionGroupRow>;
  schedules: Map<string, ScheduleRow>;
  /** By `<key> <time>`. */
  occurrences: Map<string, MemoryOccurrence>;
  outbox: Map<string, Envelope>;
  /** Offset of the database clock from the clocks of the services. */
  skewMs: number;
  nowMs(): number;
  /** Called with each execution that a commit changed. */
  onCommit(after: MemoryExecution, isResume: boolean): void;
  /** Called with each occurrence that a commit decided. */
  onDecided?(occurrence: MemoryOccurrence): void;
  /** Called when the process has received the answer to its commit. */
  onSent(messages: readonly Envelope[]): void;
  /** Called when a process has read the next queued executions, before it starts them. */
  onQueueRead(heads: readonly ExecutionRow[]): void;
  /** Called when a process that is about to start executions has counted those at work. */
  onCounted(): void;
  /** Called when a process has read the expired leases; it continues when this promise resolves. */
  onExpiredRead(): Promise<void>;
  locks: Map<string, Lock>;
  /** Time that a commit waits for the disk. */
  commitMs: number;
  /** Number of commits that contained steps of several executions. */
  shared: number;
}

export function newDatabase(
  world: VirtualWorld,
  hooks: Pick<
    MemoryDatabase,
    'onCommit' | 'onDecided' | 'onSent' | 'onQueueRead' | 'onCounted' | 'onExpiredRead' | 'commitMs'
  >,
): MemoryDatabase {
  const database: MemoryDatabase = {
    world,
    executions: new Map(),
    groups: new Map(),
    schedules: new Map(),
    occurrences: new Map(),
    outbox: new Map(),
    skewMs: 0,
    nowMs: () => Date.now() + database.skewMs,
    locks: new Map(),
    shared: 0,
    ...hooks,
  };
  return database;
}

const lost = (): AppError =>
  new AppError(
    'service_unavailable_error',
    'The database does not answer',
    {},
    { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) },
  );

export function copyOf(execution: MemoryExecution): MemoryExecution {
  return {
    row: { ...execution.row },
    graphs: [...execution.graphs],
    tasks: new Map(execution.tasks),
    states: [...execution.states],
    events: [...execution.events],
    resumes: execution.resumes,
  };
}

/** The lock of an execution, or a named lock. */
interface Lock {
  holders: number;
  isShared: boolean;
  waiting: { isShared: boolean; wake: () => void }[];
}

/** Acquires the lock of an execution, first come first served; a crash releases it. */
export async function lockRow(database: MemoryDatabase, id: string, isShared = false): Promise<() => void> {
  const { locks, world } = database;
  const life = world.life()!;
  const lock = locks.get(id) ?? { holders: 0, isShared, waiting: [] };
  locks.set(id, lock);
  let isOpen = true;
  const release = () => {
    if (!isOpen) return;
    isOpen = false;
    life.process.onCrash.delete(release);
    if (--lock.holders === 0) passOn(locks, id);
  };
  const mayJoin = isShared && lock.isShared && lock.waiting.length === 0;
  if (lock.holders === 0 || mayJoin) lock.holders++;
  else {
    await new Promise<void>((resolve) => {
      // The waiting process may have died meanwhile: then the next one gets the lock.
      lock.waiting.push({ isShared, wake: () => (isSame(life) ? resolve() : release()) });
    });
  }
  life.process.onCrash.add(release);
  return release;
}

/** Passes the lock to the next waiter; if it wants a shared lock, also to all directly following shared waiters. */
function passOn(locks: MemoryDatabase['locks'], id: string): void {
  const lock = locks.get(id)!;
  const first = lock.waiting.shift();
  if (!first) {
    locks.delete(id);
    return;
  }
  const next = [first];
  while (first.isShared && lock.waiting[0]?.isShared) next.push(lock.waiting.shift()!);
  lock.holders = next.length;
  lock.isShared = first.isShared;
  for (const { wake } of next) wake();
}

const isSame = (life: Life): boolean => life.process.isUp && life.process.epoch === life.epoch;

/** Acquires an advisory lock, or locks a row without writing it, until the transaction ends. */
export async function holdNamed(tx: MemoryTx, name: string, isShared = false): Promise<void> {
  await tx.database.world.pause(0.3);
  if (!tx.named.has(name)) tx.named.set(name, await lockRow(tx.database, name, isShared));
}

/** Changes an execution that the transaction has locked. */
export function change(tx: MemoryTx, id: string, apply: Change): void {
  const held = tx.held.get(id);
  if (!held) throw new Error(`execution ${id} is written without its lock`);
  apply(held.seen);
  held.changes.push(apply);
}

/** Returns the `Db` that engines of one database share. */
export function dbOf(database: MemoryDatabase): Db<DB> {
  const { world } = database;
  const db = {
    database,
    query: { database },
    pool: undefined,
    tx: async <T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> => {
      await world.pause(0.3);
      const tx: MemoryTx = {
        database,
        held: new Map(),
        named: new Map(),
        others: [],
        messages: [],
        isResuming: false,
      };
      Object.assign(tx, { executeQuery: (query: TxQuery) => inTx(tx, query) });
      const release = () => {
        for (const held of tx.held.values()) held.release();
        for (const unlock of tx.named.values()) unlock();
      };
      try {
        const result = await run(tx);
        await world.pause(database.commitMs);
        if (world.random.chance(world.faults.commitRefused)) throw lost();
        commit(database, tx);
        release();
        await answered(database, tx.messages);
        return result;
      } finally {
        release();
      }
    },
    statement: async (
      { name }: { name: string },
      values: readonly string[],
      sent?: (rows: readonly object[]) => readonly Envelope[],
    ) => {
      if (name === 'engine-fitting-steps') return await fittingRows(database, values[0]!);
      const rows = await stepStatement(database, values[0]!);
      await answered(database, sent?.(rows) ?? []);
      return rows;
    },
    ping: () => world.pause(0.3),
    onOutboxCommit: () => () => undefined,
    close: async () => undefined,
  };
  return db as unknown as Db<DB>;
}

/** Delivers the answer of a commit, or loses it. On delivery the process sends messages of its outbox from memory. */
async function answered({ world, onSent }: MemoryDatabase, messages: readonly Envelope[]): Promise<void> {
  const isLost = world.random.chance(world.faults.commitAnswerLost);
  await world.pause(0.3);
  if (isLost) throw lost();
  if (messages.length > 0) onSent(messages);
}

function commit(database: MemoryDatabase, tx: MemoryTx): void {
  for (const [id, { changes }] of tx.held) {
    const execution = database.executions.get(id);
    if (!execution || changes.length === 0) continue;
    for (const apply of changes) apply(execution);
    if (tx.isResuming) execution.resumes++;
    database.onCommit(execution, tx.isResuming);
  }
  for (const apply of tx.others) apply();
  for (const message of tx.messages) database.outbox.set(message.id, message);
}

interface TxQuery {
  statementName?: string;
  parameters: string[];
}

/** Simulates the prepared statements that the engine runs in a transaction: the outbox, and a step. */
async function inTx(tx: MemoryTx, { statementName, parameters }: TxQuery): Promise<{ rows: object[] }> {
  await tx.database.world.pause(0.3);
  const given = JSON.parse(parameters[0]!) as unknown[];
  if (statementName !== 'outbox-append') return stepInTx(tx, given[0] as StepInput);
  const time = isoInstant(tx.database.nowMs());
  return { rows: given.map((envelope) => ({ envelope: { ...(envelope as Envelope), time } })) };
}

/** Simulates `writeStep`: the step of one execution in the caller's transaction. */
function stepInTx(tx: MemoryTx, input: StepInput): { rows: object[] } {
  const { database } = tx;
  const held = tx.held.get(input.execution_id);
  if (!held) throw new Error(`execution ${input.execution_id} takes a step without its lock`);
  const now = database.nowMs();
  const done = applyStep(held.seen, input, now);
  if (!done) return { rows: [] };
  held.changes.push((execution) => void applyStep(execution, input, now));
  return { rows: [done.row] };
}

/** Simulates `fittingSteps`. */
async function fittingRows({ world, executions }: MemoryDatabase, parameter: string): Promise<object[]> {
  const expected = JSON.parse(parameter) as Pick<ExecutionRow, 'id' | 'version' | 'phase' | 'status'>[];
  await world.pause(0.3);
  return expected.flatMap(({ id, version, phase, status }) => {
    const row = executions.get(id)?.row;
    const isFitting =
      row?.version === version && row.phase === phase && (status ?? row.status) === row.status;
    return isFitting ? [{ id }] : [];
  });
}

/** Simulates `writeSteps`: each step completely or not at all, all of them in one commit, skipping executions that are locked. */
async function stepStatement(database: MemoryDatabase, parameter: string): Promise<object[]> {
  const { world, executions, outbox } = database;
  const given = JSON.parse(parameter) as StepInput[];
  await world.pause(0.3);
  const inputs = given.filter(({ execution_id: id }) => !database.locks.has(id));
  const releases: (() => void)[] = [];
  try {
    for (const { execution_id: id } of inputs) releases.push(await lockRow(database, id));
    await world.pause(database.commitMs);
    if (world.random.chance(world.faults.commitRefused)) throw lost();
    // One of several steps cannot be written: the engine then tries each alone.
    if (inputs.length > 1 && world.random.chance(world.faults.commitRefused))
      throw new Error('cannot be written');
    const now = database.nowMs();
    if (inputs.length > 1) database.shared++;
    return inputs.flatMap((input) => {
      const execution = executions.get(input.execution_id);
      if (!execution) return [];
      const done = applyStep(execution, input, now);
      if (!done) return [];
      for (const message of done.outbox) outbox.set(message.id, message);
      database.onCommit(execution, false);
      return [done.row];
    });
  } finally {
    for (const release of releases) release();
  }
}
