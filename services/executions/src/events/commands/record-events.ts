import type { Principal } from '@baton/contracts';
import type { eventInput } from '@baton/contracts/http/events';
import { AppError, notFound, readInstant } from '@baton/kernel';
import type { z } from 'zod';
import { visibleExecution } from '../../executions/queries/visible-execution';
import { lockExecution, updateExecution } from '../../executions/store/executions.sql';
import { visibleGroup } from '../../groups/queries/execution-groups';
import type { Ports } from '../../ports';
import type { NewEvent } from '../../store/rows';
import { appendEvents, appendGroupEvents } from '../store/events.sql';

export interface EventsFromOutside {
  events?: z.infer<typeof eventInput>[] | null;
  logs?: z.infer<typeof eventInput>[] | null;
  execution_id?: string | null;
  execution_group_id?: string | null;
  agent_name?: string | null;
}

/**
 * Stores events and log lines of senders other than workers (reference/rest-api.md 5.10).
 * @returns the number of stored rows.
 * @throws AppError conflict_error when both execution and group are given; bad_parameters_error when neither is given, or a time
 * is malformed; not_found_error; forbidden_error when an agent names another execution than its own.
 */
export async function recordEvents(
  deps: Pick<Ports, 'db' | 'turns' | 'wake'>,
  principal: Principal,
  request: EventsFromOutside,
): Promise<number> {
  if (request.execution_id && request.execution_group_id)
    throw new AppError('conflict_error', 'execution_id and execution_group_id exclude each other', {
      field: 'execution_group_id',
    });
  if (principal.agentDeploymentId !== undefined && request.execution_id !== principal.executionId)
    throw new AppError(
      'forbidden_error',
      'An operation on an agent writes to the log of its own execution only',
      {
        field: 'execution_id',
        expected: principal.executionId,
      },
    );
  const worker = request.agent_name ?? null;
  const rows = [
    ...(request.events ?? []).map((event) => newEvent(event, false, worker)),
    ...(request.logs ?? []).map((event) => newEvent(event, true, worker)),
  ];
  if (request.execution_group_id) {
    const group = await visibleGroup(deps.db.query, principal, request.execution_group_id);
    await deps.db.tx((tx) => appendGroupEvents(tx, group, rows));
    return rows.length;
  }
  if (!request.execution_id)
    throw new AppError('conflict_error', 'execution_id is missing', {
      field: 'execution_id',
      expected: 'the id of an execution',
    });
  const { id } = await visibleExecution(deps.db.query, principal, request.execution_id);
  if (rows.length === 0) return 0;
  await deps.turns.take(id, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, id);
      if (!execution) throw notFound('Execution', id);
      const lastSeq = await appendEvents(tx, execution, rows);
      await updateExecution(tx, id, { last_event_seq: lastSeq });
    }),
  );
  deps.wake.events(id);
  return rows.length;
}

function newEvent(event: z.infer<typeof eventInput>, isLog: boolean, worker: string | null): NewEvent {
  const { context } = event;
  const nodeInstanceId = context?.node_id ?? null;
  return {
    isLog,
    eventType: isLog ? null : (event.event_type ?? null),
    level: isLog ? (event.level ?? null) : null,
    logger: isLog ? (event.logger ?? null) : null,
    message: typeof event.message === 'string' ? event.message : event.message.text,
    errorCauses: (event.error_causes as NewEvent['errorCauses'] | undefined) ?? null,
    operation: context?.operation ?? null,
    nodeInstanceId,
    // The id of a node instance is the node's name and a suffix.
    nodeName: context?.node_name ?? nodeInstanceId?.replace(/_[a-z0-9]+$/, '') ?? null,
    sourceId: context?.source_id ?? null,
    targetId: context?.target_id ?? null,
    worker,
    reportedAt: reportedAt(event.reported_timestamp ?? event.timestamp),
  };
}

function reportedAt(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : readInstant('timestamp', text);
}
