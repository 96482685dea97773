import { isoInstant } from '@baton/kernel';
import type { TaskRow } from '@baton/task-graph';
import { taskOfRow } from '../../../services/executions/src/engine/store/task-document';
import type { ExecutionGroupRow } from '../../../services/executions/src/groups/store/execution-groups.sql';
import type { ExecutionRow, StoredTask } from '../../../services/executions/src/store/rows';
import type { Observed } from '../oracle';
import type { MemoryExecution } from './database';
import { tasksOf } from './store/access';

/** Returns an id in the production format: an operation that waits for an execution recognizes its id by the format. */
export const executionIdOf = (i: number): string => `e0000000-0000-7000-8000-${String(i).padStart(12, '0')}`;

/** Returns an accepted execution, as a start request leaves it. */
export function newExecution(
  id: string,
  workflow: string,
  parameters: object,
  queued: { deployment: string | null; group: string | null; at?: number } | null = null,
): MemoryExecution {
  const deployment = queued ? queued.deployment : id;
  const scheduledFor = queued?.at === undefined ? null : isoInstant(queued.at);
  const row: ExecutionRow = {
    id,
    tenant: 'default_tenant',
    request_id: id,
    payload_hash: '',
    workflow_id: workflow,
    program: deployment === null ? null : workflow,
    deployment_id: deployment,
    deployment_display_name: deployment,
    deployment_made_by: null,
    blueprint_id: 'blueprint',
    visibility: 'tenant',
    created_by: 'admin',
    created_at: isoInstant(Date.now()),
    started_at: null,
    ended_at: null,
    scheduled_for: scheduledFor,
    status: scheduledFor ? 'scheduled' : queued ? 'queued' : 'pending',
    error: null,
    parameters: parameters as ExecutionRow['parameters'],
    is_system_workflow: deployment === null,
    is_dry_run: false,
    is_forced: false,
    is_resumed: false,
    allow_custom_parameters: true,
    wait_after_fail_s: 5,
    total_operations: null,
    finished_operations: null,
    token_hash: '',
    phase: queued ? 'waiting' : 'planning',
    stage: null,
    history: [],
    graph_id: null,
    earlier_total: 0,
    earlier_finished: 0,
    version: 0,
    last_event_seq: 0,
    last_state_seq: 0,
    outcome: null,
    wake_at: scheduledFor,
    cancel_requested_at: null,
    cancel_deadline: null,
    has_left_runs: false,
    execution_group_id: queued?.group ?? null,
    resume_wish: null,
    parent_id: null,
    is_cascading: false,
  };
  return { row, graphs: [], tasks: new Map(), states: [], events: [], resumes: 0 };
}

/** Returns a new group, as its creation leaves it. */
export function newGroup(id: string, concurrency: number): ExecutionGroupRow {
  return {
    tenant: 'default_tenant',
    id,
    deployment_group_id: id,
    workflow_id: '',
    concurrency,
    success_group_id: null,
    failure_group_id: null,
    visibility: 'tenant',
    created_by: 'admin',
    created_at: isoInstant(Date.now()),
    has_queued: true,
    parent_id: null,
  };
}

const tasks = new WeakMap<StoredTask, TaskRow>();

/** Returns the same object for the same row, which is never changed in place. */
function observedTask(row: StoredTask): TaskRow {
  const known = tasks.get(row) ?? taskOfRow(row);
  tasks.set(row, known);
  return known;
}

/** Returns the parts of the execution that the oracle checks. */
export function observed(execution: MemoryExecution): Observed {
  const { row, graphs, events, resumes } = execution;
  const graph = graphs.find(({ id }) => id === row.graph_id);
  return {
    id: row.id,
    status: row.status,
    head: graph
      ? { name: graph.name, waitAfterFailMs: graph.wait_after_fail_ms, dryRun: graph.is_dry_run }
      : null,
    rows: graph ? tasksOf(execution, graph).map(observedTask) : [],
    flags: graph?.flags ?? null,
    stage: row.stage as Observed['stage'],
    history: row.history,
    error: row.error,
    events: [...events],
    resumes,
  };
}
