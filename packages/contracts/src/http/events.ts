import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant } from './shapes';

const errorCause = z.object({ message: z.string(), traceback: z.string().nullable(), type: z.string() });

/** Event or log line (spec v3.1 part 2 "Event"; reference/rest-api.md 7.1). */
export const event = z
  .object({
    _storage_id: z.number().int(),
    type: z.enum(['platform_event', 'platform_log', 'cloudify_event', 'cloudify_log']),
    event_type: z.string().nullable(),
    error_causes: z.array(errorCause).nullable(),
    level: z.string().nullable(),
    logger: z.string().nullable(),
    message: z.string(),
    blueprint_id: z.string().nullable(),
    deployment_id: z.string().nullable(),
    deployment_display_name: z.string().nullable(),
    execution_id: z.string().nullable(),
    execution_group_id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    node_instance_id: z.string().nullable(),
    node_name: z.string().nullable(),
    operation: z.string().nullable(),
    source_id: z.string().nullable(),
    target_id: z.string().nullable(),
    manager_name: z.string().nullable(),
    agent_name: z.string().nullable(),
    reported_timestamp: instant,
    timestamp: instant,
  })
  .meta({ id: 'Event' });

export const eventFields = Object.keys(event.shape);

export const eventList = {
  fields: eventFields,
  filters: [
    'type',
    'execution_id',
    'execution_group_id',
    'deployment_id',
    'blueprint_id',
    'node_instance_id',
    'node_id',
    'event_type',
    'level',
    'operation',
    'message',
    'message.text',
  ],
  sorts: [...eventFields, '@timestamp'],
  defaultSort: [{ field: 'timestamp', descending: false }],
  defaultSize: 10_000,
  allowsAllTenants: false,
  allowsGetAll: false,
};

export const eventRoutes = defineRoutes([
  {
    id: 'listEvents',
    method: 'GET',
    path: '/events',
    owner: 'executions',
    permission: 'event_list',
    tenant: 'required',
    versions: ['v2.1', 'v3.1'],
    summary: 'Events and log lines',
    spec: 'v3.1-part2 Events; reference 7.3',
    list: eventList,
    status: 200,
    response: envelope(event.partial()),
  },
  {
    id: 'streamEvents',
    method: 'GET',
    path: '/events/stream',
    owner: 'executions',
    permission: 'event_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Events of an execution as they are stored, as server-sent events; resumable by Last-Event-ID',
    spec: 'Baton',
    query: z.object({ execution_id: z.string() }),
    responseKind: 'events',
    status: 200,
  },
]);
