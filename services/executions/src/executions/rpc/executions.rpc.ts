import type { executionsRpc } from '@baton/contracts';
import { AppError, type JsonObject } from '@baton/kernel';
import type { RpcHandlers, ServedCall } from '@baton/rpc';
import { lookUntil } from '@baton/service-runtime';
import type { DoctorPart } from '../../doctor/adapters/doctor-parts';
import { exportLogs } from '../../doctor/commands/export-logs';
import { appendTaskEvents } from '../../engine/commands/append-task-events';
import { callFromWorkflow } from '../../engine/commands/call-from-workflow';
import { claimTask } from '../../engine/commands/claim-task';
import { finishTasks } from '../../engine/commands/finish-tasks';
import { heartbeat } from '../../engine/commands/renew-leases';
import { submitWork } from '../../engine/commands/submit-work';
import type { EngineDeps } from '../../engine/deps';
import { awaitWork } from '../../engine/queries/await-work';
import type { StreamHub } from '../../events/http/event-stream';
import { startSystemGroup } from '../../groups/commands/start-system-group';
import { scheduledDeployments } from '../../schedules/store/schedules.sql';
import type { ExecutionRow, Outcome } from '../../store/rows';
import type { WorkerRegistry } from '../../workers/worker-registry';
import { recordExecution } from '../commands/record-execution';
import { reportSystemExecution } from '../commands/report-system-execution';
import { requestExecution } from '../commands/request-execution';
import { presentExecution } from '../domain/present-execution';
import type { StartRequest } from '../domain/start-request';
import { hashToken } from '../domain/token';
import { unfinishedExecutions } from '../queries/unfinished-executions';
import {
  activeOfDeployment,
  executionByToken,
  latestExecutions,
  readExecution,
} from '../store/executions.sql';
import { tenantUsage } from '../store/quotas.sql';

/** The message about it needs some 10 ms. */
const RECORDED_LOOK_MS = 4;

const present = (row: ExecutionRow) => presentExecution(row);

/** ExecutionsService of proto/executions/v1. */
export function executionsRpcHandlers(
  deps: EngineDeps,
  wait: { hub: StreamHub; nowMs: () => number },
): Handlers {
  return {
    claimTask: async (request) => ({ leases: await claimTask(deps, request) }),
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
    resolveExecutionToken: async ({ token }) => {
      const execution = await executionByToken(deps.db.query, hashToken(token));
      if (!execution) throw new AppError('unauthorized_error', 'User unauthorized: Invalid Execution Token');
      return {
        executionId: execution.id,
        tenant: execution.tenant,
        createdBy: execution.created_by,
        deploymentId: execution.deployment_id ?? '',
        status: execution.status,
      };
    },
    startExecution: async (request) => {
      const row = await start(deps, request);
      return { executionId: row.id, executionJson: JSON.stringify(present(row)) };
    },
    startExecutionGroup: async (request) => {
      await startSystemGroup(deps, request);
      return {};
    },
    ...readHandlers(deps),
  };
}

/** The same, but refused to workers that were revoked. */
export function forGoodWorkers(handlers: Handlers, registry: WorkerRegistry): Handlers {
  const guarded = Object.entries(handlers).map(([name, handle]) => [
    name,
    (request: never, call: ServedCall) => {
      registry.requireGood(call.caller);
      return handle(request, call);
    },
  ]);
  return Object.fromEntries(guarded) as Handlers;
}

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;
type Read =
  | 'awaitExecution'
  | 'getTenantUsage'
  | 'listActiveExecutions'
  | 'listScheduledDeployments'
  | 'listUnfinishedExecutions'
  | 'getLatestExecutions';

/** What other services read of executions and schedules. */
function readHandlers(deps: EngineDeps): Pick<Handlers, Read> {
  return {
    awaitExecution: async ({ executionId, maxWaitMs }, { signal }) => {
      const looks = { withinMs: maxWaitMs, everyMs: RECORDED_LOOK_MS, signal };
      const read = () => readExecution(deps.db.query, executionId);
      return { isThere: (await lookUntil(read, (row) => row !== null, looks)) !== null };
    },
    getTenantUsage: ({ tenant }) => tenantUsage(deps.db.query, tenant),
    listActiveExecutions: async ({ tenant, deploymentId }) => {
      const rows = await activeOfDeployment(deps.db.query, tenant, deploymentId);
      return { executionsJson: JSON.stringify(rows.map(present)) };
    },
    listScheduledDeployments: async ({ tenant, after, limit }) => ({
      names: await scheduledDeployments(deps.db.query, tenant || null, after, limit),
    }),
    listUnfinishedExecutions: ({ limit }) => unfinishedExecutions(deps.db.query, limit),
    getLatestExecutions: async ({ tenant, deploymentIds }) => {
      const rows = await latestExecutions(deps.db.query, tenant, deploymentIds);
      return {
        executionsJson: JSON.stringify(
          Object.fromEntries(rows.map((row) => [row.deployment_id, present(row)])),
        ),
      };
    },
  };
}

/** SystemExecutionsService of proto/executions/v1. */
export function systemExecutionsRpcHandlers(
  deps: EngineDeps,
  doctorParts: readonly DoctorPart[],
): RpcHandlers<typeof executionsRpc.SystemExecutionsServiceDefinition> {
  return {
    reportSystemExecution: async (request) => ({ status: await reportSystemExecution(deps, request) }),
    exportLogs: () => exportLogs(deps, doctorParts),
  };
}

function required(run: executionsRpc.WorkflowRun | undefined): executionsRpc.WorkflowRun {
  if (!run) throw new AppError('bad_parameters_error', 'run is missing', { field: 'run' });
  return run;
}

async function start(deps: EngineDeps, request: executionsRpc.StartExecutionRequest): Promise<ExecutionRow> {
  const common: StartRequest = {
    tenant: request.tenant,
    createdBy: request.createdBy,
    isAdministrator: true,
    requestId: request.requestId || null,
    workflowId: request.workflowId,
    deploymentId: request.deploymentId || null,
    parameters: JSON.parse(request.parametersJson || '{}') as JsonObject,
    allowCustomParameters: request.allowCustomParameters,
    isForced: request.force,
    mayQueue: request.queue,
    isDryRun: request.dryRun,
    waitAfterFailS: 600,
    scheduledForMs: null,
    isSystemWorkflow: request.isSystemWorkflow,
  };
  if (request.recordedStatus === '') return await requestExecution(deps, common);
  return await recordExecution(deps, {
    ...common,
    blueprintId: request.blueprintId || null,
    displayName: request.deploymentDisplayName || request.deploymentId || null,
    visibility: request.visibility || 'tenant',
    outcome: { status: request.recordedStatus as Outcome['status'], error: request.error },
  });
}
