import { type RunStepDeps, runStep } from '../steps/run-step';

type GoOnDeps = RunStepDeps;

/**
 * Takes a step of an execution without news, for the doctor: its graph is read anew under the lock, and its ready tasks go on.
 * Does nothing when the execution is not running.
 * @throws Error when its graph cannot be read.
 */
export async function goOn(deps: GoOnDeps, executionId: string): Promise<void> {
  await runStep(deps, executionId, () => ({ happenings: [] }));
}
