import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject, ownedFields } from './shapes';

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
  })
  .meta({ id: 'Operation' });

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

/** Ids are null, and those of operations hold only within the graph, while it is only planned. */
const executionTasksGraph = z.object({
  id: z.string().nullable(),
  name: z.string(),
  created_at: z.string().nullable(),
  ended: z.string().nullable(),
  operations: z.array(jsonObject),
});

/** Known states are written in small letters; the specification writes them in capitals, and is understood. */
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
/** What the original's update workflow sends when a node has got other inputs. */
export const storedOperationsChange = z.object({
  action: z.literal('update-stored'),
  /** Absent, null or empty: nothing is to be done. */
  deployment_id: z.string().max(256).nullish(),
  node_id: z.string().max(256).nullish(),
  operation: z.string().max(1024).nullish(),
  /** Of a relationship's operation: which one, and on which side. */
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
    status: 200,
    response: z.object({
      execution_id: z.string(),
      status: z.string(),
      is_planned: z.boolean(),
      error: z.string().nullable(),
      stages: z.array(workflowStage),
      graphs: z.array(executionTasksGraph),
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
