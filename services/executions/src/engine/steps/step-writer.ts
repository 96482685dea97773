import { type Db, isConnectionLoss, isDataError } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import type { StepWrite } from '../store/step-write';
import { fittingSteps, type SteppedRow, writeSteps } from '../store/steps.sql';

/**
 * Group commit: steps of different executions that wait at the same moment share one statement, and so one commit. Steps that
 * arrive while a statement is under way share the next one: this needs a third fewer statements than two at a time. A slow
 * statement does not hold up the others. No statement waits for a lock, since a paused process may hold it: the step of a locked
 * row is tried again for a while, then the caller takes it under the lock.
 * A step is written only when its execution still is as the step found it; no timer delays it.
 * After a crash before the answer, the caller repeats the step; if it was written, the repetition is refused.
 */
export interface StepWriter {
  /** Returns the row after the step; null: the execution has moved on or is locked, and nothing was written. */
  write(step: StepWrite): Promise<SteppedRow | null>;
}

interface Waiting {
  step: StepWrite;
  /** How often the row was found locked. */
  refusals: number;
  resolve: (row: SteppedRow | null) => void;
  reject: (error: unknown) => void;
}

/** After this time the next statement does not wait for the one under way; most statements take 1 to 5 ms. */
const SLOW_MS = 20;
/** As many statements as there are connections for them: more would wait for a connection, and could take no further steps. */
const MAX_STATEMENTS = 2;
const MAX_STEPS = 64;
/** Bounds the size of one statement; a larger step goes alone. */
const MAX_ROWS = 4_000;
/** Waits before the step of a locked row is tried again: most locks last some milliseconds. */
const AGAIN_MS = [3, 6, 12, 25, 50, 100, 200];

export function createStepWriter(db: Pick<Db<DB>, 'statement'>): StepWriter {
  const waiting: Waiting[] = [];
  let running = 0;
  /** The newest statement, as long as the next one waits for it. */
  let awaited: object | null = null;
  let isScheduled = false;

  const pump = (): void => {
    isScheduled = false;
    if (waiting.length === 0 || awaited || running === MAX_STATEMENTS) return;
    const statement = {};
    awaited = statement;
    running++;
    const goOn = (): void => {
      if (awaited === statement) awaited = null;
      pump();
    };
    const slow = setTimeout(goOn, SLOW_MS);
    void writeBatch(db, nextBatch(waiting)).then((left) => {
      clearTimeout(slow);
      running--;
      goOn();
      if (left.length > 0) void settleLeft(db, left, add);
    });
  };
  const add = (one: Waiting): void => {
    waiting.push(one);
    if (isScheduled || awaited) return;
    isScheduled = true;
    // After this turn of the event loop: steps decided in the same turn share a statement.
    setImmediate(pump);
  };
  return {
    write: (step) => new Promise((resolve, reject) => add({ step, refusals: 0, resolve, reject })),
  };
}

function nextBatch(waiting: Waiting[]): Waiting[] {
  let rows = 0;
  let count = 0;
  while (count < waiting.length && count < MAX_STEPS) {
    const { tasks, newTasks, events } = waiting[count]!.step;
    rows += tasks.length + newTasks.length + events.length;
    if (count > 0 && rows > MAX_ROWS) break;
    count++;
  }
  return waiting.splice(0, count);
}

/** Returns whether a write failed because of its data, which is too large or too deep, for example: every retry fails too. */
export const isUnstorable = (error: unknown): boolean => error instanceof RangeError || isDataError(error);

/** Writes a batch; returns the steps whose rows were left out: they are locked, or have moved on. Never rejects. */
async function writeBatch(db: Pick<Db<DB>, 'statement'>, batch: readonly Waiting[]): Promise<Waiting[]> {
  try {
    const rows = await writeSteps(
      db,
      batch.map(({ step }) => step),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return batch.filter(({ step, resolve }) => {
      const row = byId.get(step.executionId);
      if (row) resolve(row);
      return !row;
    });
  } catch (error) {
    if (batch.length === 1 || isConnectionLoss(error)) {
      for (const { reject } of batch) reject(error);
      return [];
    }
    // One of the steps cannot be written: the others must not fail with it.
    const left: Waiting[] = [];
    for (const one of batch) left.push(...(await writeBatch(db, [one])));
    return left;
  }
}

/** Adds the steps of locked rows again after a while; resolves the others with null: their rows have moved on. Never rejects. */
async function settleLeft(
  db: Pick<Db<DB>, 'statement'>,
  left: readonly Waiting[],
  add: (one: Waiting) => void,
): Promise<void> {
  try {
    const fitting = await fittingSteps(
      db,
      left.map(({ step }) => step),
    );
    for (const one of left) {
      const againMs = fitting.has(one.step.executionId) ? AGAIN_MS[one.refusals++] : undefined;
      if (againMs === undefined) one.resolve(null);
      else setTimeout(add, againMs, one);
    }
  } catch (error) {
    for (const { reject } of left) reject(error);
  }
}
