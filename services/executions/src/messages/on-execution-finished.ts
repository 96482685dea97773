import type { Envelope, executionFinished, MessageType } from '@baton/contracts';
import { collectEnded } from '../commands/collect-ended';
import type { EngineDeps } from '../engine/deps';

type Finished = typeof executionFinished extends MessageType<infer T> ? T : never;

/** An execution ended: the queue has room, and its deployment may join a group. Repeating is harmless. */
export function onExecutionFinished(deps: EngineDeps) {
  return async ({ tenant, payload }: Envelope<Finished>): Promise<void> => {
    deps.wake.dequeue();
    await collectEnded(deps, tenant, payload);
  };
}
