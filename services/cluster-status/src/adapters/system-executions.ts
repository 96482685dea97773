import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

export interface SystemExecutionRequest {
  tenant: string;
  /** The same id always returns the same execution. */
  requestId: string;
  createdBy: string;
  workflowId: 'create_snapshot' | 'restore_snapshot' | 'create_log_bundle';
  parameters: Record<string, unknown>;
  mayQueue: boolean;
  isDryRun: boolean;
}

export interface ExecutionReport {
  executionId: string;
  log?: { batchId: string; lines: string[] };
  end?: { status: 'terminated' | 'failed' | 'cancelled'; error: string };
}

/** Executions that this service carries out. */
export interface SystemExecutionsPort {
  start(request: SystemExecutionRequest): Promise<{ id: string; execution: Record<string, unknown> }>;
  /** Reports and returns the status of the execution; '' when the execution was deleted. */
  report(report: ExecutionReport): Promise<string>;
  /** Returns findings, executions and events for a log bundle, file by file. */
  logs(signal: AbortSignal): AsyncIterable<{ file: string; data: Buffer }>;
  /** Returns the ids of some of the executions, of any tenant, that have not ended. */
  unfinished(): Promise<{ id: string; workflowId: string }[]>;
}

const SHOWN = 20;
/** Deadline for reading all events of a big manager. */
const LOGS_DEADLINE_MS = 3_600_000;

export function createSystemExecutions(rpc: RpcConnector): SystemExecutionsPort {
  const engine = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const reports = rpc.client(executionsRpc.SystemExecutionsServiceDefinition, 'executions');
  return {
    async start({ parameters, mayQueue, isDryRun, ...request }) {
      const { executionId, executionJson } = await engine.startExecution({
        ...request,
        parametersJson: JSON.stringify(parameters),
        isSystemWorkflow: true,
        allowCustomParameters: true,
        queue: mayQueue,
        dryRun: isDryRun,
      });
      return { id: executionId, execution: JSON.parse(executionJson) as Record<string, unknown> };
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
    logs: (signal) => reports.exportLogs({}, { deadlineMs: LOGS_DEADLINE_MS, signal }) as never,
    async unfinished() {
      const { executions } = await engine.listUnfinishedExecutions({ limit: SHOWN });
      return executions.map(({ id, workflowId }) => ({ id, workflowId }));
    },
  };
}
