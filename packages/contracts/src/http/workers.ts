import { z } from 'zod';
import { defineRoutes } from '../route';

const worker = z
  .object({
    id: z.string(),
    hostname: z.string().nullable(),
    version: z.string().nullable(),
    places: z.number().int().nullable().describe('Operations that it runs at once'),
    held: z.number().int().describe('Operations that it holds now'),
    isolation: z.string().nullable().describe('How it keeps operations apart'),
    registered_at: z.string().nullable(),
    last_seen: z.string(),
    is_alive: z.boolean().describe('It has reported within the last minute'),
    revoked_at: z.string().nullable().describe('Since then nothing of it is believed'),
  })
  .meta({ id: 'Worker' });

const common = {
  owner: 'executions',
  permission: 'manager_manage',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
  isOpenInMaintenance: true,
  status: 200,
} as const;

export const workerRoutes = defineRoutes([
  {
    ...common,
    id: 'listWorkers',
    method: 'GET',
    path: '/workers',
    summary: 'Workers that have joined, the last seen ones first, at most 1000',
    response: z.object({ items: z.array(worker) }),
  },
  {
    ...common,
    id: 'revokeWorker',
    method: 'POST',
    path: '/workers/:worker_id/revoke',
    summary: 'Takes the credential of a worker back for ever; what it runs goes to others. May be repeated',
    params: z.object({ worker_id: z.string().min(1).max(200) }),
    response: worker,
  },
]);
