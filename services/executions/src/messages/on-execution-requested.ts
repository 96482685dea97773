import type { Envelope } from '@baton/contracts';
import { driveExecution } from '../commands/drive-execution';
import type { EngineDeps } from '../engine/deps';

/** Drives an accepted execution; usually its acceptor has done so already, then there is nothing left to do. */
export function onExecutionRequested(deps: EngineDeps) {
  return async ({ payload }: Envelope<{ executionId: string }>): Promise<void> => {
    await driveExecution(deps, payload.executionId);
  };
}
