import type { StoredStage } from '../../store/rows';

/** Executions that a stage of another one starts (engine/commands/start-nested.ts): what they are named by. */

/** Whether the stage starts executions and waits for them, instead of changing the model. */
export function isNestedCall(stage: Extract<StoredStage, { kind: 'call' }>): boolean {
  return stage.request.call === 'run-execution' || stage.request.call === 'run-on-services';
}

/** Request id of the one execution that a stage starts: the same at every repetition. */
export function nestedRequestId(executionId: string, stageName: string): string {
  return `nested:${executionId}:${stageName}`;
}

/** Id of the execution group that a stage starts: its name, and whose it is. */
export function nestedGroupId(name: string, executionId: string): string {
  return `${name}-${executionId}`;
}
