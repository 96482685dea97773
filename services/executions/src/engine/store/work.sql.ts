import type { WorkChange } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { waitsWithoutWorker } from '../../store/waiting-task';

export interface CodeRunRow {
  graph_id: string;
  /** `executions.version`. */
  version: number;
  cancel: string;
  attempt: number;
  worker_id: string | null;
  state: string;
}

/** Returns the run of an execution's workflow code and the state of its graph; null when the code does not run any more. */
export async function readCodeRun(
  reader: Db<DB>['query'],
  executionId: string,
  taskId: string,
): Promise<CodeRunRow | null> {
  const { rows } = await sql<CodeRunRow>`
    select e.graph_id, e.version, coalesce(g.flags->>'cancel', '') as cancel, t.attempt, t.worker_id, t.state
    from executions e join tasks_graphs g on g.id = e.graph_id join tasks t on t.graph_id = e.graph_id and t.idx = 0
    where e.id = ${executionId} and t.id = ${taskId} and e.phase = 'running'`.execute(reader);
  return rows[0] ?? null;
}

/** Returns the tasks of workflow code that changed after `afterVersion`, in order of idx. */
export async function changedWork(
  reader: Db<DB>['query'],
  graphId: string,
  afterVersion: number,
): Promise<WorkChange[]> {
  const { rows } = await sql<WorkChange>`
    select t.spec->>'key' as key, t.idx, t.spec->>'kind' as kind, t.spec->>'name' as name,
      case when t.spec->>'kind' = 'operation'
        then (t.spec->'payload'->>'nodeInstanceId') || ':' || (t.spec->'payload'->>'operation') else '' end as about,
      (select s.spec->>'key' from tasks s where s.graph_id = t.graph_id and s.idx = (t.spec->>'subgraph')::int) as subgraph,
      -- One that waits without a worker goes on by itself: the code waits for it as for one that runs.
      case when ${waitsWithoutWorker} then 'started' else t.state end as state, t.attempt, t.retries, t.result, t.error,
      t.state = 'response-sent' or (t.state = 'started' and coalesce(t.spec->'payload'->>'byCode', '') = 'true') as "isAsking"
    from tasks t where t.graph_id = ${graphId} and t.version > ${afterVersion} and t.spec ? 'key' order by t.idx`.execute(
    reader,
  );
  return rows;
}

/** Returns the mapping of a graph's workflow code: the path behind the alias of its plugin; null when the graph has no code. */
export async function codeMapping(tx: Tx<DB>, graphId: string): Promise<string | null> {
  const { rows } = await sql<{ mapping: string | null }>`
    select spec->'payload'->>'implementation' as mapping from tasks
    where graph_id = ${graphId} and idx = 0 and spec->'payload' ? 'isWorkflowCode'`.execute(tx);
  return rows[0]?.mapping ?? null;
}
