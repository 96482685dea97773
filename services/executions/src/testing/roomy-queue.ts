import { noQuota } from '../executions/domain/quota';
import type { QueueRules } from '../ports';

/** Returns queue rules that hold nothing back. */
export const roomyQueue = (): QueueRules => ({
  isPaused: () => false,
  maxConcurrent: () => 1_000,
  quota: () => noQuota,
  isRunningLimited: () => false,
  weights: () => ({}),
});
