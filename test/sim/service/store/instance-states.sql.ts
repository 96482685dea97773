import { isoInstant } from '@baton/kernel';
import type * as real from '../../../../services/executions/src/engine/store/instance-states.sql';
import { allSeenBy, batchOf, databaseOf, seenBy, statement } from './access';

export const pendingStates: typeof real.pendingStates = async (
  reader,
  executionId,
  { after = 0, limit = null } = {},
) => {
  await statement(reader);
  return (seenBy(reader, executionId)?.states ?? [])
    .filter(({ seq }) => seq > after)
    .sort((a, b) => a.seq - b.seq)
    .slice(0, limit ?? undefined)
    .map(({ createdMs: _created, ...state }) => state);
};

export const deleteStates: typeof real.deleteStates = async (db, executionId, seq) => {
  await statement(db);
  const execution = databaseOf(db).executions.get(executionId)!;
  execution.states = execution.states.filter((state) => state.seq > seq);
  await statement(db);
};

export const undeliveredExecutions: typeof real.undeliveredExecutions = async (
  reader,
  olderThanMs,
  limit,
  place,
) => {
  await statement(reader);
  const before = databaseOf(reader).nowMs() - olderThanMs;
  const undelivered = [...allSeenBy(reader)].flatMap(({ row: { id }, states }) => {
    const since = Math.min(...states.map(({ createdMs }) => createdMs));
    return since < before ? [{ id, at: isoInstant(since) }] : [];
  });
  return batchOf(reader, undelivered, limit, place);
};
