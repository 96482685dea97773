import { anythingWaiting } from '../../executions/store/queue.sql';
import type { Ports } from '../../ports';
import { type WakeDeferredDeps, wakeEnded } from './wake-deferred';

type AfterEndsDeps = Pick<Ports, 'db' | 'log' | 'wake'> & WakeDeferredDeps;

/**
 * Continues after the end of these executions: starts queued executions that now have room, and wakes operations that waited for
 * the end. Mostly there are none. After a crash, engine/loops/engine.loops.ts does the same (dequeue, settle-deferred).
 */
export async function afterEnds(deps: AfterEndsDeps, executionIds: readonly string[]): Promise<void> {
  const waiting = await anythingWaiting(deps.db, executionIds);
  if (waiting.queue || waiting.groups) deps.wake.dequeue();
  if (!waiting.deferred) return;
  // A broken operation must not hold up the follow-ups of later ends: settle-deferred tries it again.
  await wakeEnded(deps, executionIds).catch((err: unknown) =>
    deps.log.warn({ err, executionIds }, 'an operation that waits may be woken late'),
  );
}
