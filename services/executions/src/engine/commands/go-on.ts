import { type RunStepDeps, runStep } from '../steps/run-step';

type GoOnDeps = RunStepDeps;

/**
 * Takes a step of an execution without news, for the doctor: its graph is read anew under the lock, and what is ready goes on.
 * Nothing happens when it is not running.
 * @throws Error when its graph cannot be read.
 */
export async function goOn(deps: GoOnDeps, executionId: string): Promise<void> {
  await runStep(deps, executionId, () => ({ happenings: [] }));
}
