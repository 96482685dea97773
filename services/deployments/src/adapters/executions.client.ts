import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

export interface ActiveExecution {
  id: string;
  workflow_id: string;
  status: string;
}

export interface StartRequest {
  tenant: string;
  /** A repeated request with the same id returns the first execution. */
  requestId: string;
  createdBy: string;
  deploymentId: string;
  deploymentDisplayName: string;
  blueprintId: string;
  visibility: string;
  workflowId: string;
  parameters: Record<string, unknown>;
  force: boolean;
}

export interface ExecutionReport {
  executionId: string;
  /** `batchId` identifies the lines: a repeated batch is stored once. */
  log?: { batchId: string; lines: string[] };
  end?: { status: 'terminated' | 'failed' | 'cancelled'; error: string };
}

/** A system workflow on many deployments. */
export interface GroupStartRequest {
  tenant: string;
  /** Made by the caller; a repeated request with the same id starts nothing more. */
  groupId: string;
  deploymentGroupId: string;
  createdBy: string;
  visibility: string;
  workflowId: string;
  parameters: Record<string, unknown>;
  force: boolean;
  concurrency: number;
  deployments: { id: string; displayName: string; blueprintId: string; visibility: string }[];
}

const SCHEDULED_PAGE = 10_000;
const GROUP_DEADLINE_MS = 30_000;
const AWAIT_MARGIN_MS = 500;

/** The executions service as deployments sees it. */
export interface ExecutionsPort {
  active(tenant: string, deploymentId: string): Promise<ActiveExecution[]>;
  /** Starts a system workflow on a deployment; returns the id of the execution. */
  startSystemWorkflow(request: StartRequest): Promise<string>;
  startSystemGroup(request: GroupStartRequest): Promise<void>;
  /** Reports log lines and the end of an execution that this service performs. Returns its status; '' when it is gone. */
  report(report: ExecutionReport): Promise<string>;
  /** Waits until an execution that was announced by a message exists; returns false when it does not exist yet. */
  isThere(executionId: string, withinMs: number): Promise<boolean>;
  /** Returns `tenant/id` of all deployments that have schedules; null: of every tenant. */
  scheduled(tenant: string | null): Promise<string[]>;
  /** Returns the number of schedules of all these deployments of a tenant. */
  countSchedules(tenant: string, deploymentIds: readonly string[]): Promise<number>;
}

export function createExecutionsClient(rpc: RpcConnector): ExecutionsPort {
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const reports = rpc.client(executionsRpc.SystemExecutionsServiceDefinition, 'executions');
  return {
    async active(tenant, deploymentId) {
      const { executionsJson } = await client.listActiveExecutions({ tenant, deploymentId });
      return executionsJson === '' ? [] : (JSON.parse(executionsJson) as ActiveExecution[]);
    },
    async startSystemWorkflow({ parameters, ...request }) {
      const { executionId } = await client.startExecution({
        ...request,
        parametersJson: JSON.stringify(parameters),
        isSystemWorkflow: true,
        allowCustomParameters: true,
      });
      return executionId;
    },
    async startSystemGroup({ parameters, ...request }) {
      await client.startExecutionGroup(
        { ...request, parametersJson: JSON.stringify(parameters) },
        { deadlineMs: GROUP_DEADLINE_MS },
      );
    },
    async report({ executionId, log, end }) {
      const { status } = await reports.reportSystemExecution({
        executionId,
        batchId: log?.batchId ?? '',
        log: log?.lines ?? [],
        endStatus: end?.status ?? '',
        error: end?.error ?? '',
      });
      return status;
    },
    async isThere(executionId, withinMs) {
      const deadlineMs = withinMs + AWAIT_MARGIN_MS;
      return (await client.awaitExecution({ executionId, maxWaitMs: withinMs }, { deadlineMs })).isThere;
    },
    async scheduled(tenant) {
      const found: string[] = [];
      for (let isMore = true; isMore; ) {
        const page = { tenant: tenant ?? '', after: found.at(-1) ?? '', limit: SCHEDULED_PAGE };
        const { names } = await client.listScheduledDeployments(page);
        found.push(...names);
        isMore = names.length === SCHEDULED_PAGE;
      }
      return found;
    },
    async countSchedules(tenant, deploymentIds) {
      return (await client.countSchedules({ tenant, deploymentIds: [...deploymentIds] })).total;
    },
  };
}
