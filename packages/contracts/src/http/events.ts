import { z } from 'zod';
import { defineRoutes } from '../route';
import { legacyFields } from './legacy-fields';
import { cursorEnvelope, instant, jsonObject, queryBoolean } from './shapes';

const errorCause = z.object({ message: z.string(), traceback: z.string().nullable(), type: z.string() });

/** Event or log line (spec v3.1 part 2 "Event"; reference/rest-api.md 7.1). */
const event = z
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

const eventFields = Object.keys(event.shape);

const eventList = {
  fields: eventFields,
  isIncludeLoose: true as const,
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
  extra: { _range: 'texts' } as const,
  allowsAllTenants: false,
  allowsGetAll: false,
};

const text = z.string().nullish();

/** An event or log line from a client, in the format of the message queue (reference/rest-api.md 7.5). */
export const eventInput = z.object({
  message: z.union([z.string(), z.object({ text: z.string() })]),
  timestamp: text,
  reported_timestamp: text,
  event_type: text,
  level: text,
  logger: text,
  error_causes: z.array(jsonObject).nullish(),
  /** `node_id` is the id of a node instance, as on the message queue. */
  context: z
    .object({ operation: text, node_id: text, node_name: text, source_id: text, target_id: text })
    .nullish(),
});

const streamFilter = z.array(z.string().max(1_000)).max(100).optional();

/**
 * Filters of the event stream; each may be repeated. `message`: a part of the text, case-insensitive; all repeated ones
 * must occur.
 */
const streamFilters = {
  level: streamFilter,
  event_type: streamFilter,
  type: streamFilter,
  node_instance_id: streamFilter,
  message: streamFilter,
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
    list: { ...eventList, hasCursor: true },
    legacyFields: legacyFields.event,
    status: 200,
    response: cursorEnvelope(event.partial()),
  },
  {
    id: 'createEvents',
    isNotAudited: true,
    method: 'POST',
    path: '/events',
    owner: 'executions',
    permission: 'event_create',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Store events and log lines of an execution',
    spec: 'reference 5.10, 7.5',
    body: z.object({
      events: z.array(eventInput).nullish(),
      logs: z.array(eventInput).nullish(),
      execution_id: text,
      execution_group_id: text,
      manager_name: text,
      agent_name: text,
    }),
    isAllowedToExecution: true,
    status: 201,
    response: z.null(),
  },
  {
    id: 'deleteEvents',
    method: 'DELETE',
    path: '/events',
    owner: 'executions',
    permission: 'event_delete',
    tenant: 'required',
    versions: ['v2.1', 'v3.1'],
    summary: 'Delete the events of a deployment, on request its log lines as well',
    spec: 'reference 5.10',
    query: z.object({ store_before: queryBoolean.optional() }),
    list: { ...eventList, filters: ['type', 'deployment_id'] },
    status: 200,
    response: z.object({
      items: z.array(z.number().int()),
      metadata: z.object({
        pagination: z.object({
          total: z.number().int(),
          // The requested values; they do not limit the answer.
          size: z.number().int().optional(),
          offset: z.number().int().optional(),
        }),
      }),
    }),
  },
  {
    id: 'streamEvents',
    method: 'GET',
    path: '/events/stream',
    owner: 'executions',
    permission: 'event_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary:
      'Events of an execution as they are stored, as server-sent events, from the first one or from the last few, filtered; resumable by Last-Event-ID',
    spec: 'Baton',
    query: z.object({
      execution_id: z.string(),
      /** `start`, or `tail:<N>`: the last N events that match the filters. Last-Event-ID takes precedence. */
      from: z.string().optional(),
      ...streamFilters,
    }),
    responseKind: 'events',
    status: 200,
  },
]);
