import { AppError } from '@baton/kernel';
import { type EventTime, eventTime } from '../../events/queries/event-time';
import type { ExecutionRow } from '../../store/rows';
import { readGraphView, type TaskView } from '../store/task-views.sql';
import { documentInMemory, type StoredGraphsDeps } from './graph-page';
import { graphsOfExecution } from './graphs-of-execution';

/** The last state that an execution has given a node instance. */
interface InstanceState {
  id: string;
  node_id: string;
  state: string;
  /** ISO 8601. */
  since: string;
}

/**
 * Returns the node instances with the states that the execution had given them when it wrote event `at`; null: up to now. The
 * states come from its tasks that set states, each with the time of its step, which is also the time of the events of that step.
 * Instances that it had not changed by then are left out: their earlier states are not stored.
 * @throws AppError not_found_error when no event up to `at` is left.
 */
export async function statesAt(deps: StoredGraphsDeps, execution: ExecutionRow, at: number | null) {
  const event = at === null ? null : await requireEvent(deps, execution.id, at);
  const found = new Map<string, InstanceState>();
  let isWhole = true;
  for (const head of await graphsOfExecution(deps.db.query, execution.id)) {
    if (head.is_dry_run) continue;
    const view = await readGraphView(
      deps.db.query,
      { ...head, tasks: head.hasDocument ? 'load' : null },
      { since: null, document: documentInMemory(deps, head) },
    );
    const changes = Array.from({ length: view.length }, (_, idx) => view.task(idx)).flatMap(changeOf);
    isWhole &&= changes.every(({ since }) => since !== null);
    for (const change of changes) note(found, change, event);
  }
  return {
    execution_id: execution.id,
    version: execution.version,
    at: event,
    is_whole: isWhole,
    instances: [...found.values()],
  };
}

async function requireEvent({ db }: StoredGraphsDeps, executionId: string, at: number): Promise<EventTime> {
  const event = await eventTime(db.query, executionId, at);
  if (event) return event;
  throw new AppError('not_found_error', `No event of execution ${executionId} up to number ${at} is left`, {
    field: 'at',
    expected: 'the sequence number of an event that is stored',
  });
}

/** `since` null: a release that did not record times has set the state. */
type Change = Omit<InstanceState, 'since'> & { since: string | null };

function changeOf({ spec, state, ended_at }: TaskView): Change[] {
  if (spec?.kind !== 'set-state' || state !== 'succeeded') return [];
  const { nodeInstanceId, nodeId, state: given } = spec.payload as unknown as SetState;
  return [{ id: nodeInstanceId, node_id: nodeId, state: given, since: ended_at }];
}

interface SetState {
  nodeInstanceId: string;
  nodeId: string;
  state: string;
}

/** Records a change of a state up to the event. Of two states at the same time, the state of the later task counts. */
function note(found: Map<string, InstanceState>, change: Change, event: EventTime | null): void {
  const { since } = change;
  if (since === null || (event !== null && since > event.time)) return;
  const known = found.get(change.id);
  if (!known || known.since <= since) found.set(change.id, { ...change, since });
}
