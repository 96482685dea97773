import { anythingWaiting } from '../../executions/store/queue.sql';
import type { Ports } from '../../ports';
import { type WakeDeferredDeps, wakeEnded } from './wake-deferred';

type AfterEndsDeps = Pick<Ports, 'db' | 'log' | 'wake'> & WakeDeferredDeps;

/**
 * Lets go on what the end of these executions makes room for, or what waits for it: queued executions and operations. Mostly
 * there is neither. After a crash: engine/loops/engine.loops.ts (dequeue, settle-deferred).
 */
export async function afterEnds(deps: AfterEndsDeps, executionIds: readonly string[]): Promise<void> {
  const waiting = await anythingWaiting(deps.db, executionIds);
  if (waiting.queue || waiting.groups) deps.wake.dequeue();
  if (!waiting.deferred) return;
  // One that is broken must not hold up what follows later ends: settle-deferred tries it again.
  await wakeEnded(deps, executionIds).catch((err: unknown) =>
    deps.log.warn({ err, executionIds }, 'an operation that waits may be woken late'),
  );
}
