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

type ResumeGraphDeps = Pick<EnginePorts, 'agents' | 'memory' | 'workflowConfig'>;

/** Records the workers that may still be at their runs: their late answers count, even if the resume changed their tasks. */
function noteHolders(loaded: LoadedGraph, rows: readonly StoredTask[]): void {
  for (const { idx, state, worker_id } of rows)
    if (worker_id !== null && state === 'started' && loaded.graph.nodes[idx]!.state === 'started')
      loaded.holders.set(idx, worker_id);
}

/** Returns the tasks, with the operations as a later update of the deployment has changed them. */
async function presentTasks(
  tx: Tx<DB>,
  { program, version }: LockedExecution,
  rows: readonly StoredTask[],
  source: Parameters<typeof refreshedOperations>[2] | null,
): Promise<TaskRow[]> {
  const tasks = rows.map(taskOfRow);
  if (source === null || program === null) return tasks;
  for (const [idx, payload] of refreshedOperations(program, tasks, source)) {
    tasks[idx] = { ...tasks[idx], payload } as TaskRow;
    await updatePayload(tx, rows[idx]!.id, payload, version + 1);
  }
  return tasks;
}

/**
 * Continues the stopped graph of a locked execution and dispatches its ready tasks, in the caller's transaction. The caller commits
 * the step after that transaction.
 */
export async function goOn(
  tx: Tx<DB>,
  deps: ResumeGraphDeps,
  execution: LockedExecution,
  changes: ExecutionChanges,
  options: { isForced: boolean; model: DeploymentModel | null },
): Promise<WrittenStep> {
  const head = (await readGraph(tx, execution.graph_id!))!;
  // A resume may change the dependencies of a task, which only rows can store.
  const rows = await storeAllTasks(tx, head, execution.version + 1);
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
  const { step, write } = describe(deps, context, [decision], true, systemClock.monotonic());
  const decided = uncommitted(deps.memory, context, step, write);
  // Answers that came after the graph's end may have completed it.
  if (step.outcome) endGraph(deps, decided, step.outcome);
  const row = await writeStep(tx, decided.write);
  for (const { idx, deps: others } of decision.changes)
    if (others !== undefined && idx < rows.length) await updateDeps(tx, loaded.ids[idx]!, others);
  noteRow(execution, decided.write, row);
  return { decided, row };
}

/** Writes the row of an execution that runs again, with its event. */
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
