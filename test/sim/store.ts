import type { DeploymentModel, GraphFlags, GraphSpec, Stage, StageResult, TaskRow } from '@baton/task-graph';
import type { Process, Work, World } from './world';

/**
 * A transactional store in memory: one lock per execution, writes invisible until the commit. A commit may be refused, or succeed
 * with its answer lost. A crash of the process that holds a transaction rolls it back.
 */
export interface ExecutionRow {
  id: string;
  workflow: string;
  parameters: Record<string, never> | object;
  status: string;
  version: number;
  isResumed: boolean;
  cancel: 'cancel' | 'force-cancel' | 'kill' | null;
  history: StageResult[];
  /** The current stage; null before the first and after the last. */
  stage: Extract<Stage, { kind: 'graph' | 'call' }> | null;
  head: Pick<GraphSpec, 'name' | 'waitAfterFailMs' | 'dryRun'> | null;
  rows: TaskRow[];
  flags: GraphFlags | null;
  leases: Map<number, Lease>;
  /** Time of the last change of each dispatched task, for the loop that repeats messages. */
  sentAt: Map<number, number>;
  events: { seq: number; type: string; idx: number | null; attempt: number | null }[];
  model: DeploymentModel;
  error: string | null;
}

export interface Lease {
  worker: string;
  attempt: number;
  expiresAt: number;
}

/** One run of one operation. Task numbers are unique only within a graph. */
export interface RunId {
  execution: string;
  graph: string;
  idx: number;
  attempt: number;
}

export type Message = { kind: 'begin'; execution: string } | { kind: 'ready'; run: RunId };

export interface Store {
  executions: Map<string, ExecutionRow>;
  outbox: { id: number; message: Message }[];
  /** Called for each committed execution, with its state before and after. */
  watchers: ((before: ExecutionRow | null, after: ExecutionRow) => void)[];
  begin(process: Process, id: string): Work<Tx>;
}

export interface Tx {
  /** A private copy, written back by the commit. */
  row: ExecutionRow | null;
  outbox: Message[];
  commit(): Work<'committed' | 'refused' | 'unknown'>;
  rollback(): void;
}

/** Holder of the lock of an execution, or a waiting process, first come first served. */
interface Waiter {
  process: Process;
  epoch: number;
  close: () => void;
  wake: () => void;
}

export function newStore(world: World): Store {
  const locks = new Map<string, Waiter[]>();
  let nextOutbox = 1;
  const store: Store = {
    executions: new Map(),
    outbox: [],
    watchers: [],
    *begin(process, id) {
      const close = closer(locks, process, id);
      yield* acquire(locks, process, id, close);
      const before = store.executions.get(id) ?? null;
      yield 1;
      const tx: Tx = {
        row: before && copyRow(before),
        outbox: [],
        rollback: close,
        *commit() {
          yield 1;
          const isRefused = world.random.chance(world.faults.commitRefused);
          if (!isRefused) write(store, before, tx, () => nextOutbox++);
          close();
          if (isRefused) return 'refused';
          const isAnswered = !world.random.chance(world.faults.commitAnswerLost);
          yield 1;
          return isAnswered ? 'committed' : 'unknown';
        },
      };
      return tx;
    },
  };
  return store;
}

/** Returns a function that releases the lock, once, to the next living process. */
function closer(locks: Map<string, Waiter[]>, process: Process, id: string): () => void {
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    const at = process.onCrash.indexOf(close);
    if (at >= 0) process.onCrash.splice(at, 1);
    const waiting = locks.get(id)!;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (!next.process.isUp || next.process.epoch !== next.epoch) continue;
      next.process.onCrash.push(next.close);
      next.wake();
      return;
    }
    locks.delete(id);
  };
  return close;
}

function* acquire(locks: Map<string, Waiter[]>, process: Process, id: string, close: () => void): Work {
  const waiting = locks.get(id);
  if (!waiting) {
    locks.set(id, []);
    process.onCrash.push(close);
    return;
  }
  const { epoch } = process;
  yield { isWaiting: true, onWait: (wake) => void waiting.push({ process, epoch, close, wake }) };
}

function write(store: Store, before: ExecutionRow | null, tx: Tx, nextId: () => number): void {
  if (tx.row) {
    tx.row.version++;
    store.executions.set(tx.row.id, tx.row);
    for (const watch of store.watchers) watch(before, tx.row);
  }
  for (const message of tx.outbox) store.outbox.push({ id: nextId(), message });
}

/**
 * Copies the row so deeply that no write of a transaction is visible before its commit. Rows and events are never changed in
 * place.
 */
function copyRow(row: ExecutionRow): ExecutionRow {
  return {
    ...row,
    history: [...row.history],
    rows: [...row.rows],
    leases: new Map(row.leases),
    sentAt: new Map(row.sentAt),
    events: [...row.events],
    model: {
      ...row.model,
      nodeInstances: row.model.nodeInstances.map((i) => ({
        ...i,
        system_properties: structuredClone(i.system_properties ?? {}),
      })),
    },
  };
}
