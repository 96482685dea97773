import type { Json, JsonObject } from '@baton/kernel';

/** Requests of workflow code to the engine, and its answers, as plain JSON (packages/contracts/src/workflow-work.ts). */
export type WorkItem = {
  key: string;
  deps?: string[];
  subgraph?: string | null;
  totalRetries?: number;
  retryIntervalMs?: number;
  sendTaskEvents?: boolean;
  asksOnFailure?: boolean;
  asksOnSuccess?: boolean;
} & (
  | {
      item: 'operation';
      instanceId: string;
      operation: string;
      kwargs: JsonObject;
      mayOverride: boolean;
      relationship?: { targetId: string; side: 'source' | 'target' } | null;
    }
  | { item: 'state'; instanceId: string; state: string }
  | { item: 'node-event'; instanceId: string; text: string }
  | { item: 'event'; text: string; eventType: string }
  | { item: 'step'; name: string }
  | { item: 'subgraph'; name: string }
  | {
      item: 'lifecycle';
      direction: 'install' | 'uninstall' | 'rollback';
      instanceIds: string[];
      relatedIds: string[];
      isIgnoringFailure: boolean;
    }
);

export interface WorkDecision {
  idx: number;
  attempt: number;
  decision: 'go-on' | 'retry' | 'fail';
  retryAfterMs: number | null;
  ignoreTotalRetries: boolean;
}

export interface StepResult {
  idx: number;
  attempt: number;
  result: Json;
  error: {
    type: string;
    message: string;
    recoverable: boolean;
    retryAfterMs?: number | null;
    traceback?: string | null;
  } | null;
}

export interface WorkSubmission {
  items?: WorkItem[];
  decisions?: WorkDecision[];
  steps?: StepResult[];
  drop?: string[];
  isResumable?: boolean;
}

/** The current state of a task; `isAsking`: it waits for a decision or a step of the code. */
export interface WorkTask {
  key: string;
  idx: number;
  kind: string;
  name: string;
  /** `<instance>:<operation>` for operations, else empty. */
  about: string;
  /** Key of the subgraph that contains the task. */
  subgraph: string | null;
  state: string;
  attempt: number;
  retries: number;
  result: Json;
  error: { type: string; message: string; traceback?: string | null; ignored?: true } | null;
  isAsking: boolean;
}

/** The engine's API for one run of workflow code. Each call may be repeated. */
export interface WorkPort {
  submit(work: WorkSubmission): Promise<{ error: { type: string; message: string } | null; keys: string[] }>;
  /** Returns at the next change after `version`, or after a while without a change. */
  await(
    after: { version: number; isCancelKnown: boolean },
    signal: AbortSignal,
  ): Promise<{ version: number; changes: WorkTask[]; cancel: string }>;
  call(key: string, request: JsonObject): Promise<Json>;
}

export function isFinal({ state }: Pick<WorkTask, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'rescheduled';
}

/** Identifies one question or step of a task: after a step the same task may also ask about its own end. */
export function askOf({ idx, attempt, state }: Pick<WorkTask, 'idx' | 'attempt' | 'state'>): string {
  return `${idx}:${attempt}:${state}`;
}

/** Whether the task ended and its dependents do not go on. */
export function isFailed(task: WorkTask): boolean {
  return isFinal(task) && task.state !== 'succeeded' && task.error?.ignored !== true;
}
