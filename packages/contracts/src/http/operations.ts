import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject, ownedFields } from './shapes';

/** Operation: a stored task (spec v3.1 part 2 "Operation"; reference/rest-api.md 5.17, workflows.md 2.7). */
export const operation = z
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

export const tasksGraph = z
  .object({ id: z.string(), execution_id: z.string(), name: z.string(), ...ownedFields })
  .meta({ id: 'TasksGraph' });

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
  state: state.optional(),
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
    summary: 'The graphs of an execution with the state of every task',
    spec: 'Baton',
    status: 200,
    response: z.object({ execution_id: z.string(), graphs: z.array(jsonObject) }),
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
