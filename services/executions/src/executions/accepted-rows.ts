import { LRUCache } from 'lru-cache';
import type { TimedExecution } from './store/executions.sql';

/** Cache of the rows of executions that this process has just accepted, so that their first drive need not read them. */
export interface AcceptedRows {
  note(execution: TimedExecution): void;
  /** Returns the row and drops it; null when it is not known. */
  take(executionId: string): TimedExecution | null;
  forget(executionId: string): void;
}

const MAX_ROWS = 500;

export function createAcceptedRows(): AcceptedRows {
  const rows = new LRUCache<string, TimedExecution>({ max: MAX_ROWS });
  return {
    note: (execution) => void rows.set(execution.id, execution),
    take(executionId) {
      const execution = rows.get(executionId) ?? null;
      rows.delete(executionId);
      return execution;
    },
    forget: (executionId) => void rows.delete(executionId),
  };
}
