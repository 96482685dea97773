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
]);
