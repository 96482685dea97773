import { systemClock } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { type DeploymentModel, refreshedOperations, resumeGraph, type TaskRow } from '@baton/task-graph';
import { workflowEvent } from '../../events/domain/graph-events';
import { appendEvents } from '../../events/store/events.sql';
import {
  type ExecutionChanges,
  type LockedExecution,
  NOW,
  updateExecution,
} from '../../executions/store/executions.sql';
import type { StoredTask } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import type { EnginePorts } from '../ports';
import { pendingStates } from '../store/instance-states.sql';
import { writeStep } from '../store/steps.sql';
import { taskOfRow } from '../store/task-document';
import { countOtherGraphs, readGraph, storeAllTasks, updateDeps, updatePayload } from '../store/tasks.sql';
import { describe, noteDispatch, noteTimers } from './advance-graph';
import { type LoadedGraph, newLoadedGraph } from './graph-memory';
import { endGraph, type WrittenStep } from './run-step';
import { workflowConfigOf } from './stage-end';
import { markAhead, noteRow, uncommitted } from './uncommitted';

type ResumeGraphDeps = Pick<EnginePorts, 'memory' | 'workflowConfig'>;

/** Workers that may still be at their runs, whatever else of those has changed: their late answers count. */
function noteHolders(loaded: LoadedGraph, rows: readonly StoredTask[]): void {
  for (const { idx, state, worker_id } of rows)
    if (worker_id !== null && state === 'started' && loaded.graph.nodes[idx]!.state === 'started')
      loaded.holders.set(idx, worker_id);
}

/** The tasks with what an update of the deployment has made of their operations since. */
async function presentTasks(
  tx: Tx<DB>,
  { program }: LockedExecution,
  rows: readonly StoredTask[],
  source: Parameters<typeof refreshedOperations>[2] | null,
): Promise<TaskRow[]> {
  const tasks = rows.map(taskOfRow);
  if (source === null || program === null) return tasks;
  for (const [idx, payload] of refreshedOperations(program, tasks, source)) {
    tasks[idx] = { ...tasks[idx], payload } as TaskRow;
    await updatePayload(tx, rows[idx]!.id, payload);
  }
  return tasks;
}

/**
 * Takes the stopped graph of a locked execution up again and dispatches what is ready, in the caller's transaction, behind which
 * the caller commits the step.
 */
export async function goOn(
  tx: Tx<DB>,
  deps: ResumeGraphDeps,
  execution: LockedExecution,
  changes: ExecutionChanges,
  options: { isForced: boolean; model: DeploymentModel | null },
): Promise<WrittenStep> {
  const head = (await readGraph(tx, execution.graph_id!))!;
  // A resume may change what a task waits for, which only rows can hold.
  const rows = await storeAllTasks(tx, head);
  const config = workflowConfigOf(deps, execution);
  const isInstall = execution.program === 'install' && head.name === 'install';
  const { graph, decision } = resumeGraph(
    { name: head.name, waitAfterFailMs: head.wait_after_fail_ms, dryRun: head.is_dry_run },
    await presentTasks(tx, execution, rows, options.model && { model: options.model, config }),
    {
      force: options.isForced,
      now: execution.now_ms,
      ...(head.flags.resumable && { resumable: true as const }),
      ...(isInstall && options.model ? { cleanup: { model: options.model, config } } : {}),
    },
  );
  deps.memory.forget(execution.id);
  const ids = rows.map((row) => row.id);
  const loaded = newLoadedGraph(execution, head.id, graph, ids);
  noteDispatch(loaded, decision);
  noteHolders(loaded, rows);
  noteTimers(loaded, decision);

  await runAgain(tx, execution, changes);
  loaded.states = await pendingStates(tx, execution.id);
  markAhead(loaded);
  const context = { execution, loaded };
  const { step, write } = describe(context, [decision], true, systemClock.monotonic());
  const decided = uncommitted(deps.memory, context, step, write);
  // Answers that came after the end may have been all that was missing.
  if (step.outcome) endGraph(deps, decided, step.outcome);
  const row = await writeStep(tx, decided.write);
  for (const { idx, deps: others } of decision.changes)
    if (others !== undefined && idx < rows.length) await updateDeps(tx, loaded.ids[idx]!, others);
  noteRow(execution, decided.write, row);
  return { decided, row };
}

/** The row of an execution that runs again, with the event that says so. */
async function runAgain(tx: Tx<DB>, execution: LockedExecution, changes: ExecutionChanges): Promise<void> {
  const others = await countOtherGraphs(tx, execution.id, execution.graph_id!);
  Object.assign(execution, {
    status: 'started',
    phase: 'running',
    earlier_total: others.total,
    earlier_finished: others.finished,
  });
  execution.last_event_seq = await appendEvents(tx, execution, [
    workflowEvent(execution, 'workflow_started'),
  ]);
  await updateExecution(tx, execution.id, {
    ...changes,
    status: 'started',
    phase: 'running',
    started_at: NOW,
    last_event_seq: execution.last_event_seq,
    earlier_total: others.total,
    earlier_finished: others.finished,
  });
}
