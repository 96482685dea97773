import type { Envelope } from '@baton/contracts';
import { knownExecution } from '../../executions/queries/known-execution';
import { resumeComponents } from '../commands/act-on-components';
import { driveExecution } from '../commands/drive-execution';
import type { EngineDeps } from '../deps';

/**
 * Drives an accepted execution. Usually its acceptor does so already: in this process it is waited for, and then there is
 * nothing left to do. What a resume means for components is done here, with its durable message.
 */
export function onExecutionRequested(deps: EngineDeps) {
  return async ({
    payload,
  }: Envelope<{ executionId: string; isResumed?: boolean | undefined }>): Promise<void> => {
    if (payload.isResumed) {
      const execution = await knownExecution(deps.db.query, payload.executionId);
      if (execution) await resumeComponents(deps, execution);
    }
    await deps.wake.driven(payload.executionId);
    if (deps.memory.known(payload.executionId)?.execution.phase === 'running') return;
    await driveExecution(deps, payload.executionId);
  };
}
