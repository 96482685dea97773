import { isoInstant } from '@baton/kernel';
import { progressOf } from '@baton/task-graph';
import { taskOfRow } from '../../../../services/executions/src/engine/store/task-document';
import type * as real from '../../../../services/executions/src/engine/store/tasks.sql';
import { change, type MemoryTask } from '../database';
import {
  allSeenBy,
  batchOf,
  databaseOf,
  hold,
  memoryTx,
  ofGraph,
  rowsOf,
  seenBy,
  statement,
  tasksOf,
  taskWithId,
} from './access';

export const readGraph: typeof real.readGraph = async (reader, graphId) => {
  await statement(reader);
  const execution = ofGraph(reader, graphId);
  const graph = execution?.graphs.find(({ id }) => id === graphId);
  if (!graph) return null;
  return { ...graph, format: 1, flags: structuredClone(graph.flags), execution_id: execution!.row.id };
};

export const readTasks: typeof real.readTasks = async (reader, head, { withResults }) => {
  await statement(reader);
  const execution = seenBy(reader, head.execution_id)!;
  const graph = execution.graphs.find(({ id }) => id === head.id)!;
  const tasks = tasksOf(execution, graph).map((task) =>
    withResults ? { ...task } : { ...task, result: null },
  );
  const rowless = new Set(graph.tasks === null ? [] : tasks.keys());
  for (const row of rowsOf(execution, graph.id)) rowless.delete(row.idx);
  return { tasks, rowless };
};

export const storeAllTasks: typeof real.storeAllTasks = async (handle, head) => {
  const tx = memoryTx(handle);
  const { tasks } = await readTasks(handle, head, { withResults: true });
  await statement(tx);
  if (head.tasks === null) return tasks;
  change(tx, head.execution_id, (execution) => {
    const missing = tasks.filter(({ id }) => !execution.tasks.has(id));
    for (const task of missing)
      execution.tasks.set(task.id, {
        ...task,
        leaseUntilMs: null,
        dispatchedMs: null,
        isKillRequested: false,
      });
    execution.graphs = execution.graphs.map((graph) =>
      graph.id === head.id ? { ...graph, tasks: null, marks: [] } : graph,
    );
  });
  return tasks;
};

/** Changes a task without locking its execution. */
function touch(handle: object, id: string, edit: Partial<MemoryTask>): void {
  const found = databaseOf(handle);
  for (const { tasks } of found.executions.values()) {
    const task = tasks.get(id);
    if (task) tasks.set(id, { ...task, ...edit });
  }
}

const isOpen = (task: MemoryTask): boolean => task.state === 'sent' || task.state === 'started';

export const renewLeases: typeof real.renewLeases = async (db, workerId, taskIds, leaseMs) => {
  await statement(db);
  const until = databaseOf(db).nowMs() + leaseMs;
  const held = taskIds.flatMap((id) => {
    const task = taskWithId(db, id)?.task;
    return task && task.worker_id === workerId && isOpen(task) ? [task] : [];
  });
  for (const { id } of held) touch(db, id, { leaseUntilMs: until });
  await statement(db);
  return {
    held: new Set(held.map(({ id }) => id)),
    kill: held.filter((task) => task.isKillRequested).map(({ id }) => id),
  };
};

export const noteWorker: typeof real.noteWorker = (db) => statement(db);

const hasRunOut = (handle: object, task: MemoryTask): boolean =>
  task.leaseUntilMs !== null && task.leaseUntilMs < databaseOf(handle).nowMs();

export const msToExpiry: typeof real.msToExpiry = async (reader) => {
  await statement(reader);
  const ends = [...allSeenBy(reader)].flatMap(({ tasks }) =>
    [...tasks.values()].flatMap(({ leaseUntilMs }) => leaseUntilMs ?? []),
  );
  return ends.length === 0 ? null : Math.min(...ends) - databaseOf(reader).nowMs();
};

export const expiredLeases: typeof real.expiredLeases = async (reader, limit, place) => {
  await statement(reader);
  const expired = [...allSeenBy(reader)]
    .filter(({ row }) => row.graph_id !== null)
    .flatMap((execution) => rowsOf(execution, execution.row.graph_id!))
    .filter((task) => hasRunOut(reader, task) && isOpen(task) && task.worker_id !== null)
    .map(({ id, execution_id, idx, attempt, leaseUntilMs }) => ({
      id,
      execution_id,
      idx,
      attempt,
      at: isoInstant(leaseUntilMs!),
    }));
  if (expired.length > 0) await databaseOf(reader).onExpiredRead();
  return batchOf(reader, expired, limit, place);
};

export const endLeftRuns: typeof real.endLeftRuns = async (handle) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const moved: string[] = [];
  for (const { row, tasks } of [...allSeenBy(tx)]) {
    const left = [...tasks.values()].filter((task) => row.graph_id !== task.graph_id && hasRunOut(tx, task));
    // Executions that a step has locked are handled in the next round.
    if (left.length === 0 || tx.database.locks.has(row.id)) continue;
    await hold(tx, row.id);
    change(tx, row.id, (execution) => {
      const version = execution.row.version + 1;
      execution.row = { ...execution.row, version };
      for (const task of left) {
        const ended = isOpen(task) ? { state: 'failed' as const, version } : {};
        execution.tasks.set(task.id, { ...task, leaseUntilMs: null, ...ended });
      }
    });
    moved.push(row.id);
  }
  return moved;
};

export const unclaimedTasks: typeof real.unclaimedTasks = async (
  reader,
  olderThanMs,
  lostOlderThanMs,
  limit,
) => {
  await statement(reader);
  const now = databaseOf(reader).nowMs();
  return [...allSeenBy(reader)]
    .filter(({ row }) => row.phase === 'running')
    .flatMap(({ row, tasks }) => [...tasks.values()].map((task) => ({ row, task })))
    .filter(({ task }) => task.state === 'sent' && task.worker_id === null)
    .filter(({ task }) => task.dispatchedMs! < now - (task.losses > 0 ? lostOlderThanMs : olderThanMs))
    .slice(0, limit)
    .map(({ row, task }) => ({ id: task.id, execution_id: row.id, tenant: row.tenant, is_workflow: false }));
};

export const touchDispatched: typeof real.touchDispatched = async (handle, taskIds) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const dispatchedMs = tx.database.nowMs();
  for (const id of taskIds) tx.others.push(() => touch(tx, id, { dispatchedMs }));
};

export const requestKill: typeof real.requestKill = async (handle, graphId) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const execution = ofGraph(tx, graphId)!;
  const running = rowsOf(execution, graphId).filter((task) => isOpen(task) && task.worker_id !== null);
  for (const { id } of running)
    change(
      tx,
      execution.row.id,
      ({ tasks }) => void tasks.set(id, { ...tasks.get(id)!, isKillRequested: true }),
    );
  return running.map(({ id, attempt }) => ({ id, attempt }));
};

export const updateDeps: typeof real.updateDeps = async (handle, taskId, deps) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const { execution } = taskWithId(tx, taskId)!;
  change(tx, execution.row.id, ({ tasks }) => {
    const task = tasks.get(taskId)!;
    tasks.set(taskId, { ...task, spec: { ...task.spec, deps: [...deps] } as MemoryTask['spec'] });
  });
};

export const countOtherGraphs: typeof real.countOtherGraphs = async (handle, executionId, graphId) => {
  await statement(handle);
  const { seen } = memoryTx(handle).held.get(executionId)!;
  const counts = seen.graphs
    .filter(({ id }) => id !== graphId)
    .map((graph) => progressOf(tasksOf(seen, graph).map(taskOfRow)));
  const sum = (of: 'total' | 'finished') => counts.reduce((all, one) => all + one[of], 0);
  return { total: sum('total'), finished: sum('finished') };
};

export const renameStoppedGraphs: typeof real.renameStoppedGraphs = async (handle, executionId, kept) => {
  const tx = memoryTx(handle);
  await statement(tx);
  change(tx, executionId, (execution) => {
    execution.graphs = execution.graphs.map((graph) =>
      kept.includes(graph.name) || graph.name.includes('(stopped ')
        ? graph
        : { ...graph, name: `${graph.name} (stopped ${graph.id})` },
    );
  });
};
