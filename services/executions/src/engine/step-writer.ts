import type { Db } from '@baton/postgres';
import { isConnectionLoss, isDataError } from '@baton/postgres';
import type { StepWrite } from '../store/step-write';
import { type SteppedRow, writeSteps } from '../store/steps.sql';
import type { DB } from '../store/tables.gen';

/**
 * Group commit: steps of different executions that wait at the same moment share one statement, and so one commit. What
 * comes while one is under way goes together with the next: a third less of statements than with two at a time. A
 * statement that takes long, for its size or for a lock, does not hold up the others.
 * A step is written only when its execution still is as the step found it; no timer holds it up.
 * Crash before the answer: whoever asked repeats it, and what was written is refused then.
 */
export interface StepWriter {
  /** The row after the step; null: the execution has moved on, and nothing was written. */
  write(step: StepWrite): Promise<SteppedRow | null>;
}

interface Waiting {
  step: StepWrite;
  resolve: (row: SteppedRow | null) => void;
  reject: (error: unknown) => void;
}

/** From then on the next statement does not wait for the one under way; most take 1 to 5 ms. */
const SLOW_MS = 20;
/** As many as have a connection: more would wait there, and what they hold could not grow. */
const MAX_STATEMENTS = 2;
const MAX_STEPS = 64;
/** Bounds the size of one statement; a larger step goes alone. */
const MAX_ROWS = 4_000;

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
    void writeBatch(db, nextBatch(waiting)).then(() => {
      clearTimeout(slow);
      running--;
      goOn();
    });
  };
  return {
    write: (step) =>
      new Promise((resolve, reject) => {
        waiting.push({ step, resolve, reject });
        if (isScheduled || awaited) return;
        isScheduled = true;
        // After this turn of the loop: what was decided in the same turn goes together.
        setImmediate(pump);
      }),
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

/** Whether a write failed for what it holds, as too large or too deep: it fails again however often it is tried. */
export const isUnstorable = (error: unknown): boolean => error instanceof RangeError || isDataError(error);

/** Never rejects. */
async function writeBatch(db: Pick<Db<DB>, 'statement'>, batch: readonly Waiting[]): Promise<void> {
  try {
    const rows = await writeSteps(
      db,
      batch.map(({ step }) => step),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { step, resolve } of batch) resolve(byId.get(step.executionId) ?? null);
  } catch (error) {
    if (batch.length === 1 || isConnectionLoss((error as Error).cause ?? error))
      for (const { reject } of batch) reject(error);
    // One of them cannot be written: the others must not fail with it.
    else for (const one of batch) await writeBatch(db, [one]);
  }
}
