import type { executionsRpc } from '@baton/contracts';
import type { OperationEnd } from '@baton/plugin-runtime';
import type { HeldTask } from '../claim/held-task';

/** A memory of operations that outlives the process of the worker. */
export interface TaskRecords {
  /**
   * Called before an operation starts; resolves when it is certain that a later process will know of it. An end: it must not be
   * started, and this end is reported for it. Never rejects.
   */
  begin(task: HeldTask): Promise<OperationEnd | null>;
  /** Called with the outcome before it is reported. Never rejects. */
  ended(task: HeldTask, outcome: executionsRpc.TaskOutcome): Promise<void>;
  /** Called when the outcome is answered, or nobody wants it any more. */
  forget(task: HeldTask): void;
}
