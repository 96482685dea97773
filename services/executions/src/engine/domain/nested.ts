import type { StoredStage } from '../../store/rows';

/** Names of the executions that a stage of another execution starts (engine/commands/start-nested.ts). */

/** Returns whether the stage starts executions and waits for them, instead of changing the model. */
export function isNestedCall(stage: Extract<StoredStage, { kind: 'call' }>): boolean {
  return stage.request.call === 'run-execution' || stage.request.call === 'run-on-services';
}

/** Returns the request id of the one execution that a stage starts: the same at every repetition. */
export function nestedRequestId(executionId: string, stageName: string): string {
  return `nested:${executionId}:${stageName}`;
}

/** Returns the id of the execution group that a stage starts: its name and the id of the execution that starts it. */
export function nestedGroupId(name: string, executionId: string): string {
  return `${name}-${executionId}`;
}
