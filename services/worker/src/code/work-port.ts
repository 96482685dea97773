import { submittedWork, workChange } from '@baton/contracts';
import { type AppError, badParameter, type Json } from '@baton/kernel';
import type { WorkPort, WorkSubmission } from '@baton/plugin-runtime';
import { z } from 'zod';
import type { ExecutionsClient } from '../adapters/executions.client';
import type { HeldTask } from '../claim/held-task';

/** Longest wait of one request for news. */
const MAX_WAIT_MS = 15_000;
const changes = z.array(workChange);

type FieldsOf<T> = T extends unknown ? keyof T : never;
type Submitted = z.input<typeof submittedWork>;
/** Fields that code may set and that the wire would drop: must be none. Compares the types of both sides with the schema here. */
type Dropped = Exclude<
  FieldsOf<NonNullable<WorkSubmission['items']>[number]>,
  FieldsOf<NonNullable<Submitted['items']>[number]>
>;

/**
 * Checks submitted work and returns its JSON. Invalid work is refused here, with the place of the mistake, instead of causing an
 * internal error in the engine.
 * @throws AppError bad_parameters_error, payload_too_large_error
 */
function written(work: Submitted): string {
  const refuse = (field: string, why: string): AppError =>
    badParameter(field, `The code of the workflow asks for what cannot be: ${field}: ${why}`);
  try {
    const { success, data, error } = submittedWork.safeParse(work);
    if (success) return JSON.stringify(data);
    const [issue] = error.issues;
    throw refuse(issue!.path.join('.'), issue!.message);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw refuse('work', 'it is nested too deeply');
    throw thrown;
  }
}

/**
 * Returns the calls to the engine for one run of workflow code. Every call names the run, so that calls of an older run are
 * refused.
 */
export function workPort(executions: ExecutionsClient, task: HeldTask): WorkPort {
  const run = { executionId: task.executionId, taskId: task.taskId, attempt: task.attempt };
  return {
    submit: async (work) => {
      const sent: [Dropped] extends [never] ? Submitted : never = work;
      const { errorJson, keys } = await executions.submitWork(run, written(sent));
      return {
        error: errorJson === '' ? null : (JSON.parse(errorJson) as { type: string; message: string }),
        keys,
      };
    },
    await: async ({ version, isCancelKnown }, signal) => {
      const ask = { afterVersion: version, isCancelKnown, maxWaitMs: MAX_WAIT_MS };
      const news = await executions.awaitWork(run, ask, signal);
      return {
        version: news.version,
        changes: changes.parse(JSON.parse(news.changesJson)),
        cancel: news.cancel,
      } as Awaited<ReturnType<WorkPort['await']>>;
    },
    call: async (key, request) =>
      JSON.parse(await executions.callFromWorkflow(run, key, JSON.stringify(request))) as Json,
  };
}
