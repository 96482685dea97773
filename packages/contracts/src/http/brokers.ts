import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject } from './shapes';

/** Broker (reference/rest-api.md 5.14); both credential fields are null without the permission broker_credentials. */
const broker = z
  .object({
    name: z.string(),
    host: z.string(),
    management_host: z.string().nullable(),
    port: z.number().int(),
    username: z.string().nullable(),
    password: z.string().nullable(),
    params: jsonObject,
    networks: z.record(z.string(), z.string()),
    is_external: z.boolean(),
    ca_cert_content: z.string().nullable(),
  })
  .meta({ id: 'Broker' });
const dbNode = z
  .object({ name: z.string(), host: z.string(), is_external: z.boolean() })
  .meta({ id: 'DbNode' });

const common = {
  owner: 'cluster-status',
  method: 'GET',
  tenant: 'optional',
  versions: ['v3.1'],
  status: 200,
  spec: 'reference 5.14',
  isOpenInMaintenance: true,
} as const;
const listOf = (schema: z.ZodObject) => ({
  fields: Object.keys(schema.shape),
  filters: ['name'],
  ignoresOthers: true as const,
  sorts: ['name'],
  defaultSort: [{ field: 'name', descending: false }],
  allowsAllTenants: false,
  allowsGetAll: false,
  passedOver: ['_sort', '_size', '_offset'] as const,
});

export const brokerRoutes = defineRoutes([
  {
    ...common,
    id: 'listBrokers',
    path: '/brokers',
    permission: 'broker_get',
    summary: 'The message broker that the services were configured with',
    list: listOf(broker),
    response: envelope(broker.partial()),
  },
  {
    ...common,
    id: 'listDbNodes',
    path: '/db-nodes',
    permission: 'db_nodes_get',
    summary: 'The database that the services were configured with',
    list: listOf(dbNode),
    response: envelope(dbNode.partial()),
  },
]);
