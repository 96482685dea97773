import type { Envelope } from '@baton/contracts';
import { knownExecution } from '../../executions/queries/known-execution';
import { resumeComponents } from '../commands/act-on-components';
import { type DriveExecutionDeps, driveExecution } from '../commands/drive-execution';
import type { EnginePorts } from '../ports';

type OnExecutionRequestedDeps = Pick<EnginePorts, 'db' | 'memory' | 'wake'> & DriveExecutionDeps;

/**
 * Drives an accepted execution. Usually the process that accepted it drives it already. If that is this process, the handler waits
 * for that drive, and then nothing is left to do. A resume also resumes executions of components; this handler does it, because
 * the message is durable.
 */
export function onExecutionRequested(deps: OnExecutionRequestedDeps) {
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
