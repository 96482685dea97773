import { z } from 'zod';
import { defineRoutes } from '../route';

const finding = z
  .object({
    check: z.string().describe('Kind of damage: lease-lost, timer-lost, ...'),
    id: z.string().describe('Of the execution, task, schedule, upload, ...'),
    about: z.string(),
    repair: z.string().describe('What the repair does'),
    is_repaired: z.boolean(),
    error: z.string().nullable().describe('Why the repair failed'),
  })
  .meta({ id: 'DoctorFinding' });

const common = {
  path: '/doctor',
  owner: 'executions',
  permission: 'maintenance_mode_set',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
  isOpenInMaintenance: true,
  status: 200,
  response: z.object({ items: z.array(finding) }),
} as const;

export const doctorRoutes = defineRoutes([
  {
    ...common,
    id: 'examine',
    method: 'GET',
    summary: 'What is broken in the stored state, of all tenants and services',
  },
  { ...common, id: 'repair', method: 'POST', summary: 'Repairs what is broken; answers what was found' },
]);
