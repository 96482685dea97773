import { z } from 'zod';
import { defineRoutes } from '../route';
import { jsonObject, queryBoolean } from './shapes';

const providerContext = z
  .object({ id: z.string(), name: z.string(), context: jsonObject })
  .meta({ id: 'ProviderContext' });

const common = {
  owner: 'cluster-status',
  tenant: 'optional',
  path: '/provider/context',
  versions: ['v2.1', 'v3.1'],
  spec: 'reference 5.19',
} as const;

export const providerContextRoutes = defineRoutes([
  {
    ...common,
    id: 'getProviderContext',
    method: 'GET',
    permission: 'provider_context_get',
    summary: 'The provider context',
    includeFields: Object.keys(providerContext.shape),
    status: 200,
    response: providerContext.partial(),
  },
  {
    ...common,
    id: 'postProviderContext',
    method: 'POST',
    permission: 'provider_context_create',
    summary: 'Set the provider context; with update=true replace it (200)',
    query: z.object({ update: queryBoolean.optional() }),
    body: z.object({ name: z.string().min(1).max(256), context: jsonObject }),
    status: 201,
    response: z.object({ status: z.string() }),
  },
]);
