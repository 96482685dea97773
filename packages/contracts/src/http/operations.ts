import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant, jsonObject, ownedFields } from './shapes';

/** Times and subject of the present attempt of a task; null when unknown or not applicable. */
const operationRun = z.object({
  started_at: instant.nullable().describe('When its present attempt began at a worker'),
  ended_at: instant.nullable(),
  attempt: z
    .number()
    .int()
    .nullable()
    .describe('How often a worker was asked to run it, runs lost with a worker included'),
  next_retry_at: instant
    .nullable()
    .describe(
      'Of a retry that waits. A retry is an operation of its own: `parameters.retried_task` names the one before',
    ),
  error: z.object({ type: z.string(), message: z.string(), recoverable: z.boolean() }).nullable(),
  node_instance_id: z.string().nullable(),
  node_id: z.string().nullable(),
  operation: z
    .string()
    .nullable()
    .describe(
      'Of a task that runs an operation of a node: `<interface>.<operation>`, as `parameters` have it',
    ),
  source_id: z.string().nullable().describe('Of an operation of a relationship: its source instance'),
  target_id: z.string().nullable().describe('Of an operation of a relationship: its target instance'),
  subgraph_id: z.string().nullable().describe('The operation of type SubgraphTask that holds it'),
});

/** Operation: a stored task (spec v3.1 part 2 "Operation"; reference/rest-api.md 5.17, workflows.md 2.7). */
const operation = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.string(),
    dependencies: z.array(z.string()),
    type: z.string(),
    parameters: jsonObject,
    tasks_graph: z.string(),
    tasks_graph_id: z.string(),
    manager_name: z.string().nullable(),
    agent_name: z.string().nullable(),
    ...ownedFields,
    ...operationRun.partial().shape,
  })
  .meta({ id: 'Operation' });

/** An operation of a stored or a planned graph. */
const graphOperation = z
  .object({
    ...operation.shape,
    ...operationRun.shape,
    created_at: instant.nullable(),
    tasks_graph: z.string().nullable(),
    tasks_graph_id: z.string().nullable(),
  })
  .meta({ id: 'GraphOperation' });

const tasksGraph = z
  .object({ id: z.string(), execution_id: z.string(), name: z.string(), ...ownedFields })
  .meta({ id: 'TasksGraph' });

/** A stage of a workflow: a graph, a change of the model, code, or work of another service. */
const workflowStage = z.object({
  name: z.string(),
  kind: z.enum(['graph', 'call', 'code', 'elsewhere']),
  call: z.string().nullable(),
  state: z.enum(['planned', 'running', 'stopped', 'succeeded', 'failed']),
  error: z.string().nullable(),
});

/** While the graph is only planned, ids are null, and ids of operations are valid only within the graph. */
const executionTasksGraph = z.object({
  id: z.string().nullable(),
  name: z.string(),
  created_at: z.string().nullable(),
  ended: z.string().nullable(),
  operations: z.array(graphOperation.partial()),
});

/** Known states are written in lower case; the upper case of the specification is accepted. */
const state = z
  .string()
  .min(1)
  .max(64)
  .transform((text) => text.toLowerCase());
const name = z.string().max(1024);
const operationParts = {
  name,
  dependencies: z.array(z.string().max(256)).max(10_000),
  type: z.string().min(1).max(64),
  parameters: jsonObject,
  state: state.default('pending'),
};
export const newOperation = z.object({ ...operationParts, graph_id: z.string() });
export const operationChange = z.object({
  state,
  result: z.unknown().optional(),
  exception: z.unknown().optional(),
  exception_causes: z.unknown().optional(),
  manager_name: z.string().max(256).nullish(),
  agent_name: z.string().max(256).nullish(),
});
export const newTasksGraph = z.object({
  name: z.string().min(1).max(256),
  execution_id: z.string(),
  operations: z
    .array(
      z.object({
        ...operationParts,
        id: z.string().min(1).max(256).optional(),
        dependencies: operationParts.dependencies.default([]),
        parameters: operationParts.parameters.default({}),
      }),
    )
    .max(100_000)
    .nullish(),
  created_at: z.iso.datetime({ offset: true, local: true }).nullish(),
  graph_id: z.uuid().nullish(),
});
/** Request of the original's update workflow when a node has new inputs. */
export const storedOperationsChange = z.object({
  action: z.literal('update-stored'),
  /** Absent, null or empty: no change. */
  deployment_id: z.string().max(256).nullish(),
  node_id: z.string().max(256).nullish(),
  operation: z.string().max(1024).nullish(),
  /** For a relationship's operation: the relationship and the side. */
  rel_index: z.number().int().min(0).nullish(),
  key: z.enum(['source_operations', 'target_operations']).nullish(),
});
const operationId = z.object({ operation_id: z.string().min(1).max(256) });
const nothing = z.object({}).loose();

const number = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .optional();
const page = { _size: number, _offset: number };
/** Versions increase by a billion with each restore of a snapshot. */
const longNumber = (says: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, says)
    .transform(Number)
    .optional();
const version = longNumber('must be a whole number: the `version` of an answer');
const sequenceNumber = longNumber('must be a whole number: the sequence number of an event');

const common = {
  owner: 'executions',
  permission: 'operations',
  tenant: 'required',
  versions: ['v3.1'],
} as const;

const written = {
  spec: 'v3.1-part2 Operations; reference 5.17',
  isAllowedToExecution: true,
  isNotAudited: true,
} as const;

export const operationRoutes = defineRoutes([
  {
    ...common,
    id: 'listOperations',
    method: 'GET',
    path: '/operations',
    summary: 'Stored operations of a tasks graph or an execution',
    spec: 'v3.1-part2 Operations; reference 5.17',
    query: z.object({
      graph_id: z.string().optional(),
      execution_id: z.string().optional(),
      state: z.union([z.string(), z.array(z.string())]).optional(),
      skip_internal: z.string().optional(),
      ...page,
    }),
    status: 200,
    response: z.union([z.array(operation), envelope(operation)]),
  },
  {
    ...common,
    id: 'getOperation',
    method: 'GET',
    path: '/operations/:operation_id',
    summary: 'One stored operation',
    spec: 'Baton; the original has it too',
    params: operationId,
    status: 200,
    response: operation,
  },
  {
    ...common,
    id: 'listTasksGraphs',
    method: 'GET',
    path: '/tasks_graphs',
    summary: 'Tasks graphs of an execution',
    spec: 'reference 5.17',
    query: z.object({ execution_id: z.string(), name: z.string().optional(), ...page }),
    includeFields: Object.keys(tasksGraph.shape),
    status: 200,
    response: envelope(tasksGraph),
  },
  {
    ...common,
    permission: 'execution_get',
    id: 'getExecutionGraph',
    method: 'GET',
    path: '/executions/:executionId/graph',
    summary:
      'What an execution does: its stages, and the graphs with the state of every task; before it begins, the plan',
    spec: 'Baton',
    // Fields of operations: ten thousand complete ones are 10 MB and more.
    includeFields: Object.keys(graphOperation.shape),
    query: z.strictObject({
      since_version: version.describe(
        'Only operations that a step after this version of the execution has changed',
      ),
      ...page,
    }),
    status: 200,
    response: z.object({
      execution_id: z.string(),
      status: z.string(),
      version: z
        .number()
        .int()
        .describe('To be given as `since_version` to hear what has changed after this answer'),
      is_planned: z.boolean(),
      is_whole: z.boolean().describe('Pages hold every operation; false: only those that have changed'),
      error: z.string().nullable(),
      total_operations: z.number().int().describe('In all graphs'),
      matched_operations: z.number().int().describe('In all pages together'),
      counts: z
        .record(z.string(), z.number().int())
        .describe('State: how many operations are in it, in all graphs'),
      stages: z.array(workflowStage),
      graphs: z.array(executionTasksGraph),
    }),
  },
  {
    ...common,
    permission: 'execution_get',
    id: 'getTopologyStates',
    method: 'GET',
    path: '/executions/:executionId/topology-states',
    summary: 'Node instances in the states that an execution had given them when it wrote an event',
    spec: 'Baton',
    query: z.strictObject({ at: sequenceNumber.describe('Sequence number of an event; absent: up to now') }),
    status: 200,
    response: z.object({
      execution_id: z.string(),
      version: z.number().int(),
      at: z
        .object({ seq: z.number().int(), time: instant })
        .nullable()
        .describe('The event that was looked at: the one asked for, or the last one before it that is left'),
      is_whole: z.boolean().describe('false: a release that did not note times has set some of the states'),
      instances: z
        .array(z.object({ id: z.string(), node_id: z.string(), state: z.string(), since: instant }))
        .describe('Those that the execution had touched'),
    }),
  },
  {
    ...common,
    ...written,
    id: 'updateStoredOperations',
    method: 'POST',
    path: '/operations',
    summary:
      'Gives operations that may still run, of graphs that a client keeps here, the inputs that their node has now',
    spec: 'reference 5.17',
    body: storedOperationsChange,
    isBodyReadPlainly: true,
    status: 204,
  },
  {
    ...common,
    ...written,
    id: 'createOperation',
    method: 'PUT',
    path: '/operations/:operation_id',
    summary: 'Adds an operation to a tasks graph that a client keeps here',
    params: operationId,
    body: newOperation,
    status: 201,
    response: operation,
  },
  {
    ...common,
    ...written,
    id: 'updateOperation',
    method: 'PATCH',
    path: '/operations/:operation_id',
    summary: 'Sets the state; writes its event and counts it in the execution',
    params: operationId,
    body: operationChange,
    status: 200,
    response: z.union([operation, nothing]),
  },
  {
    ...common,
    ...written,
    id: 'deleteOperation',
    method: 'DELETE',
    path: '/operations/:operation_id',
    summary: 'Deletes an operation of a graph that a client keeps here',
    params: operationId,
    status: 204,
  },
  {
    ...common,
    ...written,
    id: 'createTasksGraph',
    method: 'POST',
    path: '/tasks_graphs/:graph_id',
    summary: 'Makes a tasks graph with its operations; the last part of the path is free',
    body: newTasksGraph,
    status: 201,
    response: tasksGraph,
  },
  {
    ...common,
    ...written,
    id: 'updateTasksGraph',
    method: 'PATCH',
    path: '/tasks_graphs/:graph_id',
    summary: 'Sets the state of a tasks graph',
    body: z.object({ state: z.string().min(1).max(64) }),
    status: 200,
    response: tasksGraph,
  },
]);
