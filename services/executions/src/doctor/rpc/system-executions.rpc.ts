import type { executionsRpc } from '@baton/contracts';
import type { RpcHandlers } from '@baton/rpc';
import type { EngineDeps } from '../../engine/deps';
import { reportSystemExecution } from '../../executions/commands/report-system-execution';
import type { DoctorPart } from '../adapters/doctor-parts';
import { exportLogs } from '../commands/export-logs';

/** SystemExecutionsService of proto/executions/v1: work of the manager itself that another service carries out. */
export function systemExecutionsHandlers(
  deps: EngineDeps,
  doctorParts: readonly DoctorPart[],
): RpcHandlers<typeof executionsRpc.SystemExecutionsServiceDefinition> {
  return {
    reportSystemExecution: async (request) => ({ status: await reportSystemExecution(deps, request) }),
    exportLogs: () => exportLogs(deps, doctorParts),
  };
}
