import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { OperationSession } from '../context/session';
import type { OperationHost } from '../host';
import type { OperationTask } from '../task';
import { Scope } from './scope';
import type { WorkSubmission } from './work';
import { RefusedWork, type WorkSession } from './work-session';

/** Longest wait of one call; the script then calls again. */
const MAX_WAIT_MS = 20_000;
const MAX_SCOPES = 10_000;

export type WorkflowCall = (request: JsonObject) => Promise<Json>;

/** Calls of our Python module `cloudify.workflows`. They run concurrently, because some of them wait. */
export function workflowCalls(
  session: OperationSession,
  work: WorkSession,
  waitAfterFailMs: number,
): ReadonlyMap<string, WorkflowCall> {
  const scopes = new Map<string, Scope>();
  const scopeOf = (request: JsonObject): Scope => {
    const id = String(request.scope);
    const keys = Array.isArray(request.keys) ? request.keys.map(String) : [];
    const patienceMs =
      typeof request.wait_after_fail === 'number' ? request.wait_after_fail * 1000 : waitAfterFailMs;
    const scope = scopes.get(id) ?? new Scope(work, keys, patienceMs);
    if (scopes.size < MAX_SCOPES) scopes.set(id, scope);
    return scope;
  };
  return new Map<string, WorkflowCall>([
    ['wf_facts', async () => factsOf(session)],
    ['wf_model', async () => (await readModel(session, work)) as unknown as Json],
    [
      'wf_submit',
      async (request) => {
        try {
          return { keys: await work.submit(request.work as unknown as WorkSubmission), error: null };
        } catch (error) {
          if (error instanceof RefusedWork)
            return { keys: [], error: { type: error.exceptionType, message: error.message } };
          throw error;
        }
      },
    ],
    [
      'wf_wait',
      async (request) => {
        const known = new Set(Array.isArray(request.attended) ? request.attended.map(String) : []);
        const seconds = typeof request.timeout === 'number' ? request.timeout : Number.POSITIVE_INFINITY;
        const news = await scopeOf(request).next(Math.min(MAX_WAIT_MS, seconds * 1000), known);
        if (work.failure) throw work.failure;
        if (news.end !== null) {
          if (news.end.kind !== 'succeeded') await scopeOf(request).abandon();
          scopes.delete(String(request.scope));
        }
        return { ...news, cancel: work.cancel } as unknown as Json;
      },
    ],
    [
      'wf_tasks',
      async (request) => {
        const keys = Array.isArray(request.keys) ? request.keys.map(String) : [];
        return keys.map((key) => work.tasks.get(key) ?? null) as unknown as Json;
      },
    ],
    ['wf_cancel', async () => work.cancel],
    [
      'wf_call',
      async (request) => work.call(String(request.key), isJsonObject(request.request) ? request.request : {}),
    ],
  ]);
}

/** Reads the model after all effects of this code's work are stored. */
export async function readModel(
  session: OperationSession,
  work: WorkSession,
): ReturnType<OperationHost['readDeployment']> {
  await work.call('settle', { call: 'settle' });
  return await session.host.readDeployment();
}

/** Settings of workflows under the names of the manager's configuration; without given values its initial ones. */
function settingsOf(defaults: OperationTask['retryDefaults']): Json {
  return {
    task_retries: defaults?.taskRetries ?? -1,
    task_retry_interval: (defaults?.taskRetryIntervalMs ?? 30_000) / 1000,
    subgraph_retries: defaults?.subgraphRetries ?? 0,
  };
}

function factsOf({ task }: OperationSession): Json {
  const { script_path: _, ...parameters } = task.inputs as JsonObject;
  return {
    workflow_id: task.workflowId,
    execution_id: task.executionId,
    execution_token: task.executionToken,
    tenant_name: task.tenant,
    deployment: { id: task.deploymentId, display_name: task.deploymentDisplayName },
    blueprint: { id: task.blueprintId },
    execution_creator_username: task.createdBy,
    dry_run: task.isDryRun,
    resume: task.isResumed,
    wait_after_fail: (task.waitAfterFailMs ?? 0) / 1000,
    workflow_parameters: parameters,
    settings: settingsOf(task.retryDefaults),
    parameters,
  };
}
