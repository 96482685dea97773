/** Maintenance mode (reference/rest-api.md 5.20): the requests that are refused during it. */
import type { RouteContract } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Caller } from './principal-cache';
import { holds } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { CompiledRoute } from './route-table';

/**
 * `restoring`: a snapshot is being restored, service by service; a change at that time would reach no service or only some of them.
 */
export type MaintenanceState = 'deactivated' | 'activating' | 'activated' | 'restoring';

/** First path segments that are answered during maintenance. */
const OPEN = new Set(
  `brokers managers db-nodes cluster config status version license maintenance cluster-status file-server-auth ok
   snapshots snapshot-status`.split(/\s+/),
);
/** Writes that would start new work while maintenance mode waits for running work to end. */
const STARTS_WORK = /^\/(snapshots\/[^/]+|executions|deployments\/[^/]+|deployment-modifications)$/;
const RESTORES = /^\/snapshots\/[^/]+\/restore$/;
const WRITES = new Set(['POST', 'PUT', 'PATCH']);

/** Whether a request may change something. Searches change nothing: they are lists whose filters are sent in a body. */
export const changes = (contract: Pick<RouteContract, 'list'>, method: string): boolean =>
  method !== 'GET' && method !== 'HEAD' && !contract.list;

/**
 * Refuses a request that the state does not allow.
 * @throws AppError maintenance_mode_active, entering_maintenance_mode; service_unavailable_error during a restore
 */
export function checkMaintenance(
  state: MaintenanceState,
  request: { route: CompiledRoute; method: string; path: string; headers: RequestHeaders },
  caller: Caller | null,
): void {
  if (state === 'deactivated') return;
  const { route, method, path, headers } = request;
  if (state === 'restoring') {
    if (!changes(route.contract, method)) return;
    throw new AppError(
      'service_unavailable_error',
      'A snapshot is being restored: nothing can be changed until that has ended; reads are answered',
    );
  }
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
