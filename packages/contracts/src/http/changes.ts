import { z } from 'zod';
import { defineRoutes } from '../route';

const names = z.array(z.string().max(100_000)).max(1_000).optional();

/** Changes of resources as they happen; resource-changes.ts defines the kinds. */
export const changesRoutes = defineRoutes([
  {
    id: 'streamChanges',
    method: 'GET',
    path: '/changes/stream',
    owner: 'executions',
    // Each kind has the permission of its list: the service leaves out, or refuses, kinds that the caller may not list.
    permission: 'login',
    tenant: 'required',
    versions: ['v3.1'],
    summary:
      'Changes of executions, deployments, blueprints and plugins as server-sent events: `ready`, `change`, `reset`; resumable by Last-Event-ID',
    spec: 'Baton',
    query: z.object({
      /** executions, deployments, blueprints, plugins; joined by commas or repeated. Absent: all kinds that the caller may list. */
      kinds: names,
      /** Only these resources, at most 1,000; joined by commas or repeated. */
      ids: names,
    }),
    responseKind: 'events',
    status: 200,
  },
]);
