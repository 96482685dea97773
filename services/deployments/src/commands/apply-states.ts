import type { ServiceDeps } from '../deps';
import { applyStates, type ExecutionWrites } from '../store/node-instances.sql';

/**
 * Applies the states of node instances that executions have decided, each once: sequence numbers that were applied before are
 * skipped.
 */
export const applyExecutionStates = (
  { db }: Pick<ServiceDeps, 'db'>,
  executions: readonly ExecutionWrites[],
): Promise<void> => applyStates(db, executions);
