import type { Envelope } from '@baton/contracts';
import { driveExecution } from '../commands/drive-execution';
import type { EngineDeps } from '../engine/deps';

/**
 * Drives an accepted execution. Usually its acceptor does so already: in this process it is waited for, and then there is
 * nothing left to do.
 */
export function onExecutionRequested(deps: EngineDeps) {
  return async ({ payload }: Envelope<{ executionId: string }>): Promise<void> => {
    await deps.wake.driven(payload.executionId);
    if (deps.memory.known(payload.executionId)?.execution.phase === 'running') return;
    await driveExecution(deps, payload.executionId);
  };
}
