import { randomSuffix } from '@baton/kernel';

/** A prefix that no other test uses, for queues, cache keys and the like on shared servers. */
export function testNamespace(): string {
  return `test-${process.pid}-${randomSuffix(6)}`;
}
