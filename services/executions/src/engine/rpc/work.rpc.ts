import type { executionsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import type { StreamHub } from '../../events/stream-hub';
import type { Ports } from '../../ports';
import { appendTaskEvents } from '../commands/append-task-events';
import { callFromWorkflow } from '../commands/call-from-workflow';
import { claimAgentTasks } from '../commands/claim-agent-tasks';
import { claimTask } from '../commands/claim-task';
import { type FinishTasksDeps, finishTasks } from '../commands/finish-tasks';
import { heartbeat } from '../commands/renew-leases';
import { type SubmitWorkDeps, submitWork } from '../commands/submit-work';
import { awaitWork } from '../queries/await-work';

type WorkRpcDeps = Pick<Ports, 'agents' | 'db' | 'leases' | 'queue'> & FinishTasksDeps & SubmitWorkDeps;

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;
type OfWorkers =
  | 'claimTask'
  | 'claimAgentTasks'
  | 'finishTasks'
  | 'heartbeat'
  | 'appendEvents'
  | 'submitWork'
  | 'awaitWork'
  | 'callFromWorkflow';

/** Handlers of the ExecutionsService methods that workers call (proto/executions/v1). */
export function workHandlers(
  deps: WorkRpcDeps,
  wait: { hub: StreamHub; nowMs: () => number },
): Pick<Handlers, OfWorkers> {
  return {
    claimTask: async (request) => ({ leases: await claimTask(deps, request) }),
    claimAgentTasks: (request) => claimAgentTasks(deps, request),
    finishTasks: (request) => finishTasks(deps, request),
    heartbeat: (request) => heartbeat(deps, request),
    appendEvents: async (request) => {
      await appendTaskEvents(deps, request);
      return {};
    },
    submitWork: async ({ run, workJson }) => {
      const { error, keys } = await submitWork(deps, required(run), workJson);
      return { errorJson: error ? JSON.stringify(error) : '', keys };
    },
    awaitWork: async ({ run, afterVersion, maxWaitMs, isCancelKnown }, { signal }) => {
      const after = { version: afterVersion, maxWaitMs, isCancelKnown };
      const news = await awaitWork({ db: deps.db, ...wait }, required(run), after, signal);
      return { version: news.version, changesJson: JSON.stringify(news.changes), cancel: news.cancel };
    },
    callFromWorkflow: async ({ run, key, requestJson }) => ({
      resultJson: JSON.stringify(await callFromWorkflow(deps, required(run), key, requestJson)),
    }),
  };
}

function required(run: executionsRpc.WorkflowRun | undefined): executionsRpc.WorkflowRun {
  if (!run) throw new AppError('bad_parameters_error', 'run is missing', { field: 'run' });
  return run;
}
