import type * as real from '../../../../services/executions/src/engine/store/deferred.sql';
import { allSeenBy, batchOf, databaseOf, rowsOf, statement } from './access';

function waitingFor(reader: object, isOf: (executionId: string) => boolean): real.DeferredTask[] {
  const { executions } = databaseOf(reader);
  return [...allSeenBy(reader)]
    .filter(({ row }) => row.phase === 'running')
    .flatMap((execution) => rowsOf(execution, execution.row.graph_id!))
    .filter(({ state, deferral, not_before }) => {
      const id = deferral?.untilExecution;
      if (state !== 'pending' || !id || not_before === null) return false;
      return isOf(id) && executions.get(id)?.row.phase === 'ended';
    })
    .map(({ id, execution_id }) => ({ id, execution_id }));
}

export const waitingForEnds = (reader: object, executionIds: readonly string[]): real.DeferredTask[] =>
  waitingFor(reader, (id) => executionIds.includes(id));

export const deferredUntil: typeof real.deferredUntil = async (reader, executionIds) => {
  await statement(reader);
  return waitingForEnds(reader, executionIds);
};

export const forgottenDeferred: typeof real.forgottenDeferred = async (reader, olderThanMs, limit, place) => {
  await statement(reader);
  const { executions, nowMs } = databaseOf(reader);
  const endOf = (id: string) => executions.get(id)!.row.ended_at!;
  const isOld = (id: string) => Date.parse(endOf(id)) < nowMs() - olderThanMs;
  const forgotten = waitingFor(
    reader,
    (id) => executions.has(id) && executions.get(id)!.row.phase === 'ended' && isOld(id),
  );
  const since = forgotten.map((task) => {
    const { deferral } = executions.get(task.execution_id)!.tasks.get(task.id)!;
    return { ...task, at: endOf(deferral!.untilExecution!) };
  });
  return batchOf(reader, since, limit, place);
};
