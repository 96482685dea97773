import type { Envelope } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { type ExecutionStatus, executionMachine } from '@baton/task-graph';
import type { SteppedRow } from '../../../services/executions/src/engine/store/steps.sql';
import type { TaskMarks } from '../../../services/executions/src/engine/store/task-document';
import type { ExecutionRow, InstanceStateRow } from '../../../services/executions/src/store/rows';
import type { MemoryExecution, MemoryGraph, MemoryTask } from './database';

/**
 * One step in the format of the engine's SQL statement (`inputOf` of engine/store/steps.sql.ts), and a simulation of that
 * statement.
 */
export interface StepInput {
  execution_id: string;
  version: number;
  is_phase: string;
  is_status: string | null;
  is_start: boolean;
  is_end: boolean;
  wake_at: string | null;
  new_graph: (Omit<MemoryGraph, 'created_at' | 'tasks' | 'marks'> & { tasks: string | null }) | null;
  marks: TaskMarks | null;
  flags: MemoryGraph['flags'] | null;
  new_tasks: (TaskInput & Pick<MemoryTask, 'idx' | 'spec'>)[];
  tasks: TaskInput[];
  succeeded: string[];
  started: string[];
  events: { n: number; event_type?: string }[];
  states: (Omit<InstanceStateRow, 'seq'> & { n: number })[];
  delivered_seq: number | null;
  outbox: Omit<Envelope, 'time'>[];
}

type TaskInput = Pick<
  MemoryTask,
  'id' | 'state' | 'attempt' | 'losses' | 'retries' | 'not_before' | 'error' | 'result' | 'worker_id'
> & { lease_s: number | null; deferral?: MemoryTask['deferral'] };

const COLUMNS = [
  'status',
  'error',
  'phase',
  'stage',
  'history',
  'outcome',
  'graph_id',
  'total_operations',
  'finished_operations',
  'earlier_total',
  'earlier_finished',
  'blueprint_id',
  'has_left_runs',
] as const;

/** Returns null when the execution has changed meanwhile: then nothing was written. */
export function applyStep(
  execution: MemoryExecution,
  input: StepInput,
  now: number,
): { row: SteppedRow; outbox: Envelope[] } | null {
  const { row } = execution;
  if (row.version !== input.version || row.phase !== input.is_phase) return null;
  if (input.is_status !== null && row.status !== input.is_status) return null;
  const eventBase = row.last_event_seq;
  const stateBase = row.last_state_seq;
  execution.row = steppedRow(row, input, now);
  writeTasks(execution, input, now);
  for (const { n, event_type } of input.events)
    execution.events.push({ seq: eventBase + n, type: event_type ?? '' });
  if (input.delivered_seq !== null)
    execution.states = execution.states.filter(({ seq }) => seq > input.delivered_seq!);
  for (const { n, ...state } of input.states)
    execution.states.push({ ...state, seq: stateBase + n, createdMs: now });
  const { id, version, last_event_seq, last_state_seq } = execution.row;
  return {
    row: { id, version, last_event_seq, last_state_seq, now_ms: now },
    outbox: input.outbox.map((message) => ({ ...message, time: isoInstant(now) })),
  };
}

function steppedRow(row: ExecutionRow, input: StepInput, now: number): ExecutionRow {
  const given = input as unknown as Record<string, unknown>;
  const changes = Object.fromEntries(
    COLUMNS.filter((name) => given[name] !== undefined && given[name] !== null).map((name) => [
      name,
      given[name],
    ]),
  );
  refuseLeavingTheEnd(row, (changes.status ?? row.status) as string, false);
  return {
    ...row,
    ...changes,
    version: row.version + 1,
    started_at: input.is_start ? isoInstant(now) : row.started_at,
    ended_at: input.is_end ? isoInstant(now) : row.ended_at,
    wake_at: input.wake_at,
    last_event_seq: row.last_event_seq + input.events.length,
    last_state_seq: row.last_state_seq + input.states.length,
  };
}

/** Simulates the trigger on `executions`. */
export function refuseLeavingTheEnd(row: ExecutionRow, status: string, isResuming: boolean): void {
  if (executionMachine.isTerminal(row.status as ExecutionStatus) && status !== row.status && !isResuming)
    throw new Error(`execution ${row.id} is ${row.status} and cannot become ${status}`);
}

function writeTasks(execution: MemoryExecution, input: StepInput, now: number): void {
  const { row, tasks, graphs } = execution;
  const { version } = row;
  if (input.new_graph) {
    const { tasks: document, ...graph } = input.new_graph;
    const bytes = document === null ? null : Buffer.from(document, 'base64');
    graphs.push({ ...graph, tasks: bytes, marks: [], created_at: isoInstant(now) });
  }
  const at = graphs.findIndex(({ id }) => id === row.graph_id);
  if (input.flags && at >= 0) graphs[at] = { ...graphs[at]!, flags: input.flags };
  if (input.marks) graphs[at] = { ...graphs[at]!, marks: [...graphs[at]!.marks, input.marks] };
  const leaseOf = (seconds: number | null) => (seconds === null ? null : now + seconds * 1000);
  for (const { lease_s, ...task } of input.new_tasks) {
    if (tasks.has(task.id)) throw new Error(`task ${task.id} is inserted a second time`);
    tasks.set(task.id, {
      ...task,
      deferral: task.deferral ?? null,
      graph_id: row.graph_id!,
      execution_id: row.id,
      lease_until: null,
      created_at: isoInstant(now),
      leaseUntilMs: leaseOf(lease_s),
      dispatchedMs: task.state === 'sent' ? now : null,
      isKillRequested: false,
      version,
    });
  }
  for (const { lease_s, ...task } of input.tasks) {
    const old = tasks.get(task.id)!;
    const isNew = task.state === 'sent' && old.attempt !== task.attempt;
    tasks.set(task.id, {
      ...old,
      ...task,
      deferral: task.deferral ?? null,
      leaseUntilMs: leaseOf(lease_s),
      isKillRequested: old.isKillRequested && old.attempt === task.attempt,
      dispatchedMs: isNew ? now : old.dispatchedMs,
      version,
    });
  }
  const plain = { retries: 0, not_before: null, error: null, result: null, version };
  for (const state of ['succeeded', 'started'] as const)
    for (const id of input[state]) tasks.set(id, { ...tasks.get(id)!, ...plain, state });
}
