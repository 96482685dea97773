import { maintenanceRoutes } from '@baton/contracts/http/maintenance';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import { badParameter, nearestName } from '@baton/kernel';
import {
  activateMaintenance,
  deactivateMaintenance,
  type MaintenanceBody,
  type MaintenanceDeps,
  settleMaintenance,
} from '../commands/change-maintenance';
import type { WirePolicy } from './wire-policy';

const ACTIONS = ['activate', 'deactivate'];

/** Maintenance mode (reference/rest-api.md 5.20). */
export function maintenanceHttp(deps: MaintenanceDeps, wire: WirePolicy): BoundRoute[] {
  const orNotModified = (body: MaintenanceBody | null) => body ?? answer({ status: 304 });
  return bindRoutes(maintenanceRoutes, {
    getMaintenance: () => settleMaintenance(deps),
    activateMaintenance: async ({ principal }) => {
      const body = await activateMaintenance(deps, principal.username);
      return body === null ? answer({ status: 304 }) : wire.activated(body);
    },
    deactivateMaintenance: async () => orNotModified(await deactivateMaintenance(deps)),
    refuseMaintenanceAction: (call) => {
      const { action } = call.params;
      throw badParameter('action', `Invalid action \`${action}\`: expected one of ${ACTIONS.join(', ')}`, {
        expected: ACTIONS,
        nearest: nearestName(action!, ACTIONS),
      });
    },
  });
}
