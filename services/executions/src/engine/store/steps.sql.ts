import type { Envelope } from '@baton/contracts';
import { inPieces, isoInstant, whole } from '@baton/kernel';
import { type Db, sendAfterCommit, type Tx } from '@baton/postgres';
import { CompiledQuery } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { stepStatement } from './step-statement.sql';
import { type StepWrite, stepsInput } from './step-write';

/** Columns of the execution's row after the step. */
export interface SteppedRow {
  id: string;
  version: number;
  last_event_seq: number;
  last_state_seq: number;
  /** Epoch ms of the database. */
  now_ms: number;
}

/**
 * Writes steps of different executions in one statement and transaction, each step whole or not at all. Returns the rows of the
 * written steps. It waits for no lock: a row that is locked, or no longer is as its step expects, is left out.
 */
export async function writeSteps(
  db: Pick<Db<DB>, 'statement'>,
  steps: readonly StepWrite[],
): Promise<SteppedRow[]> {
  const { inputs, json } = await inPieces(stepsInput(steps));
  return await db.statement<SteppedRow>(stepStatement(inputs, 'free'), [json], (rows) =>
    messagesOf(steps, rows),
  );
}

const FITTING = {
  name: 'engine-fitting-steps',
  text: `select e.id from jsonb_to_recordset($1::jsonb) as i(id uuid, version bigint, phase text, status text)
    join executions e on e.id = i.id and e.version = i.version and e.phase = i.phase
      and (i.status is null or e.status = i.status)`,
};

/** Returns the ids of the executions whose rows are as these steps expect. */
export async function fittingSteps(
  db: Pick<Db<DB>, 'statement'>,
  steps: readonly StepWrite[],
): Promise<Set<string>> {
  const expected = steps.map(({ executionId: id, version, phase, status }) => ({
    id,
    version,
    phase,
    status,
  }));
  const rows = await db.statement<{ id: string }>(FITTING, [JSON.stringify(expected)]);
  return new Set(rows.map(({ id }) => id));
}

/** Writes the step of an execution that `tx` has locked. @throws Error when it was decided on another row: a bug. */
export async function writeStep(tx: Tx<DB>, step: StepWrite): Promise<SteppedRow> {
  const { inputs, json } = whole(stepsInput([step]));
  // Not prepared, so that the planner sees how large the tables are.
  const { text } = stepStatement(inputs, 'held');
  const { rows } = await tx.executeQuery<SteppedRow>(CompiledQuery.raw(text, [json]));
  if (!rows[0]) throw new Error(`execution ${step.executionId}: the step does not fit the locked row`);
  sendAfterCommit(tx, messagesOf([step], rows));
  return rows[0];
}

/** Returns the messages of the written steps as the outbox stores them. */
function messagesOf(steps: readonly StepWrite[], rows: readonly SteppedRow[]): Envelope[] {
  return steps.flatMap(({ executionId, outbox }) => {
    const row = outbox.length > 0 && rows.find(({ id }) => id === executionId);
    return row ? outbox.map((message) => ({ ...message, time: isoInstant(row.now_ms) })) : [];
  });
}
