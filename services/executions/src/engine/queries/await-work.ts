import type { WorkChange } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { StreamHub } from '../../events/stream-hub';
import type { DB } from '../../store/tables.gen';
import { staleRun, type WorkflowRun } from '../steps/code-run';
import { changedWork, readCodeRun } from '../store/work.sql';

/** Longest delay after a lost notification. */
const LOOK_MS = 1_000;
const MAX_WAIT_MS = 20_000;

export interface WorkNews {
  version: number;
  changes: WorkChange[];
  cancel: string;
}

/**
 * Returns the changes in the graph of running workflow code after version `after.version`. Without changes it waits for one, at
 * most `maxWaitMs`. An answer without changes is usual: the worker asks again with its version.
 * @throws AppError stale_attempt_error when the code of the caller does not run any more.
 */
export async function awaitWork(
  deps: { db: Db<DB>; hub: StreamHub; nowMs: () => number },
  run: WorkflowRun,
  after: { version: number; maxWaitMs: number; isCancelKnown: boolean },
  signal: AbortSignal,
): Promise<WorkNews> {
  const until = deps.nowMs() + Math.min(after.maxWaitMs, MAX_WAIT_MS);
  for (;;) {
    const looked = new AbortController();
    // Listens first, reads afterwards, so that a change in between wakes the wait.
    const woken = deps.hub.next(run.executionId, LOOK_MS, AbortSignal.any([signal, looked.signal]));
    let isWaiting = false;
    try {
      const news = await readNews(deps.db, run, after.version);
      const isNews = news.changes.length > 0 || (news.cancel !== '' && !after.isCancelKnown);
      isWaiting = !isNews && !signal.aborted && deps.nowMs() < until;
      if (!isWaiting) return news;
    } finally {
      if (!isWaiting) looked.abort();
    }
    await woken;
  }
}

async function readNews(db: Db<DB>, run: WorkflowRun, afterVersion: number): Promise<WorkNews> {
  const row = await readCodeRun(db.query, run.executionId, run.taskId);
  if (row?.attempt !== run.attempt || row.worker_id !== run.workerId || row.state !== 'started')
    throw staleRun();
  const { version, cancel } = row;
  if (version <= afterVersion) return { version: afterVersion, changes: [], cancel };
  // Read after the version: a newer change is returned once more with the next answer, which is harmless.
  const changes = await changedWork(db.query, row.graph_id, afterVersion);
  return { version, changes, cancel };
}
