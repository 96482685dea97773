import { noQuota } from '../executions/domain/quota';
import type { QueueRules } from '../ports';

/** A queue that holds nothing back. */
export const roomyQueue = (): QueueRules => ({
  isPaused: () => false,
  maxConcurrent: () => 1_000,
  quota: () => noQuota,
  isRunningLimited: () => false,
  weights: () => ({}),
});
