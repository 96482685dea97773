/** Maintenance mode (reference/rest-api.md 5.20): which requests wait outside. */
import { AppError } from '@baton/kernel';
import type { Caller } from './principal-cache';
import { holds } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { CompiledRoute } from './route-table';

export type MaintenanceState = 'deactivated' | 'activating' | 'activated';

/** First path segments that are answered during maintenance. */
const OPEN = new Set(
  `brokers managers db-nodes cluster config status version license maintenance cluster-status file-server-auth ok
   snapshots snapshot-status`.split(/\s+/),
);
/** Writes that would start something new while maintenance mode waits for what runs to end. */
const STARTS_WORK = /^\/(snapshots\/[^/]+|executions|deployments\/[^/]+|deployment-modifications)$/;
const RESTORES = /^\/snapshots\/[^/]+\/restore$/;
const WRITES = new Set(['POST', 'PUT', 'PATCH']);

/** @throws AppError maintenance_mode_active, entering_maintenance_mode */
export function checkMaintenance(
  state: MaintenanceState,
  request: { route: CompiledRoute; method: string; path: string; headers: RequestHeaders },
  caller: Caller | null,
): void {
  if (state === 'deactivated') return;
  const { route, method, path, headers } = request;
  if (headers.bypassesMaintenance && caller && holds(caller, 'maintenance_mode_set')) return;
  if (state === 'activating') {
    if (RESTORES.test(path) || (WRITES.has(method) && STARTS_WORK.test(path))) {
      throw new AppError(
        'entering_maintenance_mode',
        'The manager is about to enter maintenance mode and starts nothing new',
      );
    }
    return;
  }
  if (route.contract.isOpenInMaintenance || OPEN.has(path.split('/', 2)[1]!)) return;
  throw new AppError('maintenance_mode_active', 'The manager is in maintenance mode');
}
