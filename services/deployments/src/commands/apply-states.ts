import type { ServiceDeps } from '../deps';
import { applyStates, type ExecutionWrites } from '../store/node-instances.sql';

/** Applies states of node instances that executions have decided, each once: numbers that were applied before are passed over. */
export const applyExecutionStates = (
  { db }: Pick<ServiceDeps, 'db'>,
  executions: readonly ExecutionWrites[],
): Promise<void> => applyStates(db, executions);
