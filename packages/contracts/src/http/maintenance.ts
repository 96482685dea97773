import { z } from 'zod';
import { defineRoutes } from '../route';

const remaining = z.object({
  id: z.string(),
  status: z.string(),
  deployment_id: z.string().nullable(),
  workflow_id: z.string(),
});

/** Maintenance mode (reference/rest-api.md 5.20). Instants are '' when there is none. */
const maintenance = z
  .object({
    status: z.enum(['deactivated', 'activating', 'activated']),
    activated_at: z.string(),
    activation_requested_at: z.string(),
    /** During activation the original sends a list of a list. */
    remaining_executions: z.array(z.union([remaining, z.array(remaining)])).nullable(),
    requested_by: z.string(),
  })
  .meta({ id: 'Maintenance' });

const common = {
  owner: 'cluster-status',
  tenant: 'optional',
  versions: ['v2.1', 'v3.1'],
  status: 200,
  spec: 'reference 5.20',
  isOpenInMaintenance: true,
  response: maintenance,
} as const;

export const maintenanceRoutes = defineRoutes([
  {
    ...common,
    id: 'getMaintenance',
    method: 'GET',
    path: '/maintenance',
    permission: 'maintenance_mode_get',
    summary: 'State of maintenance mode',
  },
  {
    ...common,
    id: 'activateMaintenance',
    method: 'POST',
    path: '/maintenance/activate',
    permission: 'maintenance_mode_set',
    summary: 'Enter maintenance mode; 304 when it is active or on its way',
  },
  {
    ...common,
    id: 'deactivateMaintenance',
    method: 'POST',
    path: '/maintenance/deactivate',
    permission: 'maintenance_mode_set',
    summary: 'Leave maintenance mode; 304 when it is not active',
  },
  {
    ...common,
    id: 'refuseMaintenanceAction',
    method: 'POST',
    path: '/maintenance/:action',
    permission: 'maintenance_mode_set',
    summary: 'Refuses every other action by name',
  },
]);
