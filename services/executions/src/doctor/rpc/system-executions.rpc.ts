import type { executionsRpc } from '@baton/contracts';
import type { RpcHandlers } from '@baton/rpc';
import { reportSystemExecution } from '../../executions/commands/report-system-execution';
import type { DoctorPart } from '../adapters/doctor-parts';
import { type ExportLogsDeps, exportLogs } from '../commands/export-logs';

type SystemExecutionsRpcDeps = ExportLogsDeps;

/** SystemExecutionsService of proto/executions/v1: executions of the manager itself that another service carries out. */
export function systemExecutionsHandlers(
  deps: SystemExecutionsRpcDeps,
  doctorParts: readonly DoctorPart[],
): RpcHandlers<typeof executionsRpc.SystemExecutionsServiceDefinition> {
  return {
    reportSystemExecution: async (request) => ({ status: await reportSystemExecution(deps, request) }),
    exportLogs: () => exportLogs(deps, doctorParts),
  };
}
