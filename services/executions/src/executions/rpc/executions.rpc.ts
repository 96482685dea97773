import type { executionsRpc } from '@baton/contracts';
import { AppError, type JsonObject } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import { lookUntil } from '@baton/service-runtime';
import type { Ports } from '../../ports';
import type { ExecutionRow, Outcome } from '../../store/rows';
import { recordExecution } from '../commands/record-execution';
import { type RequestExecutionDeps, requestExecution } from '../commands/request-execution';
import { presentExecution } from '../domain/present-execution';
import { startRequest } from '../domain/start-request';
import { requireWorkflowPermissionAmong } from '../domain/workflow-permission';
import { executionOfToken, latestOf, unendedOf, usageOf } from '../queries/executions-for-services';
import { knownExecution } from '../queries/known-execution';
import { unfinishedExecutions } from '../queries/unfinished-executions';

type ExecutionsRpcDeps = Pick<Ports, 'db' | 'tokenKey'> & RequestExecutionDeps;

/** Interval between two looks for a recorded execution; the message about it needs some 10 ms. */
const RECORDED_LOOK_MS = 4;

const present = (row: ExecutionRow) => presentExecution(row);

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;
type Read =
  | 'awaitExecution'
  | 'getTenantUsage'
  | 'listActiveExecutions'
  | 'listUnfinishedExecutions'
  | 'getLatestExecutions';

/** Handlers of the ExecutionsService methods about executions that other services call (proto/executions/v1). */
export function executionsHandlers(
  deps: ExecutionsRpcDeps,
): Pick<Handlers, Read | 'resolveExecutionToken' | 'startExecution'> {
  return {
    resolveExecutionToken: async ({ token }) => {
      const found = await executionOfToken(deps.db.query, deps.tokenKey, token);
      if (!found) throw new AppError('unauthorized_error', 'User unauthorized: Invalid Execution Token');
      const { execution, instances } = found;
      return {
        executionId: execution.id,
        tenant: execution.tenant,
        createdBy: execution.created_by,
        blueprintId: execution.blueprint_id ?? '',
        deploymentId: execution.deployment_id ?? '',
        status: execution.status,
        isAgent: instances !== null,
        instances: [...(instances ?? [])],
      };
    },
    startExecution: async (request) => {
      const row = await start(deps, request);
      return { executionId: row.id, executionJson: JSON.stringify(present(row)) };
    },
    ...readHandlers(deps),
  };
}

function readHandlers(deps: Pick<Ports, 'db'>): Pick<Handlers, Read> {
  return {
    awaitExecution: async ({ executionId, maxWaitMs }, { signal }) => {
      const looks = { withinMs: maxWaitMs, everyMs: RECORDED_LOOK_MS, signal };
      const read = () => knownExecution(deps.db.query, executionId);
      return { isThere: (await lookUntil(read, (row) => row !== null, looks)) !== null };
    },
    getTenantUsage: ({ tenant }) => usageOf(deps.db.query, tenant),
    listActiveExecutions: async ({ tenant, deploymentId }) => {
      const rows = await unendedOf(deps.db.query, tenant, deploymentId);
      return { executionsJson: JSON.stringify(rows.map(present)) };
    },
    listUnfinishedExecutions: ({ limit }) => unfinishedExecutions(deps.db.query, limit),
    getLatestExecutions: async ({ tenant, deploymentIds }) => {
      const rows = await latestOf(deps.db.query, tenant, deploymentIds);
      return {
        executionsJson: JSON.stringify(
          Object.fromEntries(rows.map((row) => [row.deployment_id, present(row)])),
        ),
      };
    },
  };
}

async function start(
  deps: ExecutionsRpcDeps,
  request: executionsRpc.StartExecutionRequest,
): Promise<ExecutionRow> {
  if (request.hasRightsOfUser) requireWorkflowPermissionAmong(request.permissions, request);
  const common = startRequest({
    tenant: request.tenant,
    createdBy: request.createdBy,
    // A service that starts for itself is not bounded by what a user may see.
    isAdministrator: !request.hasRightsOfUser || request.isAdministrator,
    isOfClient: request.hasRightsOfUser,
    requestId: request.requestId || null,
    workflowId: request.workflowId,
    deploymentId: request.deploymentId || null,
    parameters: JSON.parse(request.parametersJson || '{}') as JsonObject,
    allowCustomParameters: request.allowCustomParameters,
    isForced: request.force,
    mayQueue: request.queue,
    isDryRun: request.dryRun,
    isSystemWorkflow: request.isSystemWorkflow,
  });
  if (request.recordedStatus === '') return await requestExecution(deps, common);
  return await recordExecution(deps, {
    ...common,
    blueprintId: request.blueprintId || null,
    displayName: request.deploymentDisplayName || request.deploymentId || null,
    visibility: request.visibility || 'tenant',
    outcome: { status: request.recordedStatus as Outcome['status'], error: request.error },
  });
}
