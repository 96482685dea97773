import { isoInstant } from '@baton/kernel';
import * as real from '../../../../services/executions/src/executions/store/executions.sql';
import type { ExecutionRow } from '../../../../services/executions/src/store/rows';
import { refuseLeavingTheEnd } from '../apply-step';
import { change, holdNamed, lockRow } from '../database';
import { newExecution } from '../executions';
import { allSeenBy, batchOf, databaseOf, hold, memoryTx, seenBy, statement } from './access';

export const { NOW } = real;

export const lockExecution: typeof real.lockExecution = async (handle, id) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const seen = await hold(tx, id);
  return seen && { ...seen.row, now_ms: tx.database.nowMs() };
};

export const readExecution: typeof real.readExecution = async (reader, id) => {
  await statement(reader);
  const seen = seenBy(reader, id);
  return seen ? { ...seen.row, now_ms: databaseOf(reader).nowMs() } : null;
};

export const isAtVersion: typeof real.isAtVersion = async (db, id, version) => {
  await statement(db);
  return seenBy(db, id)?.row.version === version;
};

export const updateExecution: typeof real.updateExecution = async (handle, id, changes) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const now = isoInstant(tx.database.nowMs());
  const written = Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, value === real.NOW ? now : value]),
  ) as Partial<ExecutionRow>;
  refuseLeavingTheEnd(
    tx.held.get(id)!.seen.row,
    written.status ?? tx.held.get(id)!.seen.row.status,
    tx.isResuming,
  );
  change(tx, id, (execution) => {
    execution.row = { ...execution.row, ...written };
  });
};

const BETWEEN_STAGES = new Set(['planning', 'calling', 'ending']);

export const dueTimers: typeof real.dueTimers = async (reader, limit, place) => {
  await statement(reader);
  const now = databaseOf(reader).nowMs();
  const due = [...allSeenBy(reader)].flatMap(({ row: { id, phase, wake_at } }) =>
    wake_at !== null && Date.parse(wake_at) <= now && phase !== 'ended' ? [{ id, phase, at: wake_at }] : [],
  );
  return batchOf(reader, due, limit, place);
};

export const owedEnds: typeof real.owedEnds = async (reader, limit, place) => {
  await statement(reader);
  const now = databaseOf(reader).nowMs();
  const owed = [...allSeenBy(reader)].flatMap(({ row: { id, phase, wake_at } }) =>
    wake_at !== null && Date.parse(wake_at) <= now && phase === 'ended' ? [{ id, at: wake_at }] : [],
  );
  return batchOf(reader, owed, limit, place);
};

export const noteEndHeard: typeof real.noteEndHeard = async (db, id, version) => {
  await statement(db);
  const database = databaseOf(db);
  const release = await lockRow(database, id);
  const execution = database.executions.get(id)!;
  const { row } = execution;
  if (row.version === version && row.phase === 'ended') {
    execution.row = { ...row, wake_at: null };
    database.onCommit(execution, false);
  }
  release();
  await statement(db);
};

export const betweenPhases: typeof real.betweenPhases = async (reader, limit, stalledMs, place) => {
  await statement(reader);
  const before = databaseOf(reader).nowMs() - stalledMs;
  const stalled = [...allSeenBy(reader)]
    .filter(({ row }) => BETWEEN_STAGES.has(row.phase) && Date.parse(row.created_at) <= before)
    .map(({ row: { id, phase, created_at } }) => ({ id, phase, at: created_at }));
  return batchOf(reader, stalled, limit, place);
};

/** Nested executions are not simulated. */
export const unendedChildren: typeof real.unendedChildren = async () => [];

export const lockGuard: typeof real.lockGuard = (tx, tenant, id) =>
  holdNamed(memoryTx(tx), `guard ${tenant} ${id}`);

export const activeOfDeployment: typeof real.activeOfDeployment = async (reader, _tenant, id) => {
  await statement(reader);
  return [...allSeenBy(reader)]
    .map(({ row }) => row)
    .filter((row) => row.deployment_id === id && row.phase !== 'ended');
};

/** Executions never start other executions here. */
export const awaitingNothing: typeof real.awaitingNothing = async () => [];

export const allowLeavingTheEnd: typeof real.allowLeavingTheEnd = async (handle) => {
  const tx = memoryTx(handle);
  await statement(tx);
  tx.isResuming = true;
};

export const twinOf: typeof real.twinOf = async (reader, { tenant, requestId }) => {
  await statement(reader);
  return (
    [...databaseOf(reader).executions.values()].find(
      ({ row }) => row.tenant === tenant && row.request_id === requestId,
    )?.row ?? null
  );
};

export const insertExecution: typeof real.insertExecution = async (handle, given) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const { database } = tx;
  const execution = newExecution(given.id, given.workflow_id, given.parameters);
  const created_at = isoInstant(database.nowMs());
  execution.row = { ...execution.row, ...given, parent_id: given.parent_id ?? null, created_at };
  tx.others.push(() => {
    database.executions.set(given.id, execution);
    database.onCommit(execution, false);
  });
  return execution.row;
};
