import type { Principal } from '@baton/contracts';
import { operationRoutes } from '@baton/contracts/http/operations';
import { answer, type BoundRoute, bindRoutes, booleanOf, type HandlersOf, pickFields } from '@baton/http';
import { AppError, isUuid } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { type ExecutionGraphDeps, executionGraph } from '../../engine/queries/execution-graph';
import { graphsOfExecution } from '../../engine/queries/graphs-of-execution';
import { listOperations, ownership, requireGraph } from '../../engine/queries/list-operations';
import { statesAt } from '../../engine/queries/states-at';
import { executionScope } from '../../executions/queries/list-executions';
import { visibleExecution } from '../../executions/queries/visible-execution';
import type { Ports } from '../../ports';
import type { DB } from '../../store/tables.gen';
import {
  type ClientOperationsDeps,
  changeGraph,
  changeOperation,
  createGraph,
  createOperation,
  removeOperation,
  visibleGraph,
  visibleOperation,
} from '../commands/client-operations';
import { updateStoredOperations } from '../commands/update-stored-operations';
import { clientGraphsOf, listClientOperations } from '../queries/client-graphs';
import type { OwnedOperation } from '../store/client-graphs.sql';
import type { OperationsWire } from './wire-policy';

const DEFAULT_SIZE = 1000;

interface Paging {
  _size?: number;
  _offset?: number;
}
const cut = <T>(items: T[], { _size: size = DEFAULT_SIZE, _offset: offset = 0 }: Paging) =>
  items.slice(offset, offset + size);
const pageOf = <T>(items: T[], query: Paging) => ({
  items: cut(items, query),
  metadata: {
    pagination: { total: items.length, offset: query._offset ?? 0, size: query._size ?? DEFAULT_SIZE },
    filtered: null,
  },
});

export interface OperationsDeps {
  db: Db<DB>;
  wire: OperationsWire;
  managerName: string;
  engine: Pick<Ports, 'db' | 'deployments'> & ExecutionGraphDeps & ClientOperationsDeps;
}

/** Routes of stored operations and tasks graphs (spec v3.1 part 2 "Operations", reference/rest-api.md 5.17). */
export function operationsRoutes(deps: OperationsDeps): BoundRoute[] {
  const { wire, managerName } = deps;
  const shown = { onFailure: wire.onFailure, showsRuns: wire.showsRuns, managerName };
  return bindRoutes(operationRoutes, {
    async listOperations(call) {
      const { graph_id: graphId, execution_id: executionId, state, skip_internal: skip } = call.query;
      if ((graphId === undefined) === (executionId === undefined)) {
        throw new AppError('bad_parameters_error', 'Give graph_id or execution_id, one of them', {
          field: 'graph_id',
        });
      }
      const states = state === undefined ? [] : [state].flat();
      const skipInternal = skip !== undefined && booleanOf('skip_internal', skip);
      const scope = executionScope(call.principal, false);
      const filter = { graphId, executionId, states, skipInternal };
      if (executionId !== undefined) await visibleExecution(deps.db.query, call.principal, executionId);
      const [ours, theirs] = await Promise.all([
        listOperations(deps.db.query, filter, scope, shown),
        listClientOperations(deps.db.query, filter, scope),
      ]);
      const items = [...ours, ...theirs.map(presentClientOperation)];
      if (graphId !== undefined && items.length === 0) await requireGraph(deps.db.query, scope, graphId);
      if (wire.isPaged) return pageOf(items, call.query);
      return call.query._size === undefined && call.query._offset === undefined
        ? items
        : cut(items, call.query);
    },
    async getOperation({ principal, params }) {
      const id = params.operation_id!;
      if (isUuid(id)) {
        // Ids of Baton's operations are in small letters.
        const filter = { operationId: id.toLowerCase(), states: [], skipInternal: false };
        const [ours] = await listOperations(deps.db.query, filter, executionScope(principal, false), shown);
        if (ours) return ours;
      }
      return presentClientOperation(await visibleOperation(deps.engine, principal, id));
    },
    async listTasksGraphs(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.query.execution_id);
      const graphs = [
        ...(await graphsOfExecution(deps.db.query, execution.id)),
        ...(await clientGraphsOf(deps.db.query, execution.id)),
      ];
      const named = graphs.filter((graph) => call.query.name === undefined || graph.name === call.query.name);
      const items = named.map(({ id, execution_id, name, created_at }) =>
        pickFields({ id, execution_id, name, created_at, ...ownership(execution) }, call.include),
      );
      // Already applied to the items; the envelope keeps all its fields.
      call.include = null;
      return pageOf(items, call.query);
    },
    ...graphHandlers(deps),
    ...clientHandlers(deps),
  });
}

/** Handlers that show the graph and the states of an execution, in routes of Baton's own API: the same on every wire. */
function graphHandlers({
  db,
  engine,
  managerName,
  wire,
}: OperationsDeps): Pick<HandlersOf<typeof operationRoutes>, 'getExecutionGraph' | 'getTopologyStates'> {
  const shown = { onFailure: wire.onFailure, showsRuns: true, managerName };
  return {
    async getExecutionGraph(call) {
      const execution = await visibleExecution(db.query, call.principal, call.params.executionId!);
      const { _size: size = null, _offset: offset = 0, since_version: sinceVersion = null } = call.query;
      const found = await executionGraph(engine, execution, shown, { size, offset, sinceVersion });
      const { include } = call;
      // `include` selects fields of operations; the answer around them keeps all its fields.
      call.include = null;
      if (include === null) return found;
      const graphs = found.graphs.map((graph) => ({
        ...graph,
        operations: graph.operations.map((operation) => pickFields(operation, include)),
      }));
      return { ...found, graphs };
    },
    async getTopologyStates({ principal, params, query }) {
      const execution = await visibleExecution(db.query, principal, params.executionId!);
      return await statesAt(engine, execution, query.at ?? null);
    },
  };
}

type ClientRoute =
  | 'updateStoredOperations'
  | 'createOperation'
  | 'updateOperation'
  | 'deleteOperation'
  | 'createTasksGraph'
  | 'updateTasksGraph';

/** Handlers for graphs and operations that an engine outside of this service stores here. */
function clientHandlers({
  engine,
  wire,
}: OperationsDeps): Pick<HandlersOf<typeof operationRoutes>, ClientRoute> {
  const shownGraph = async (principal: Principal, id: string) => {
    const graph = await visibleGraph(engine, principal, id);
    const { execution_id, name, created_at } = graph;
    return { id, execution_id, name, created_at, ...ownership(graph) };
  };
  return {
    async updateStoredOperations({ principal, body }) {
      await updateStoredOperations(engine, principal, body);
      return answer({ status: 204 });
    },
    async createOperation({ principal, params, body }) {
      const id = params.operation_id!;
      await createOperation(engine, principal, id, body);
      return presentClientOperation(await visibleOperation(engine, principal, id));
    },
    async updateOperation({ principal, params, body }) {
      const id = params.operation_id!;
      await changeOperation(engine, principal, id, body);
      return wire.showsChanged ? presentClientOperation(await visibleOperation(engine, principal, id)) : {};
    },
    async deleteOperation({ principal, params }) {
      const id = params.operation_id!;
      const before = wire.showsDeleted ? await visibleOperation(engine, principal, id) : null;
      await removeOperation(engine, principal, id);
      return before ? answer({ status: 200, body: presentClientOperation(before) }) : answer({ status: 204 });
    },
    createTasksGraph: async ({ principal, body }) =>
      shownGraph(principal, await createGraph(engine, principal, body)),
    async updateTasksGraph({ principal, params, body }) {
      await changeGraph(engine, principal, params.graph_id!, body.state);
      return shownGraph(principal, params.graph_id!);
    },
  };
}

function presentClientOperation(row: OwnedOperation) {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    created_at: row.created_at,
    dependencies: row.dependencies,
    type: row.type,
    parameters: row.parameters,
    tasks_graph: row.graph_id,
    tasks_graph_id: row.graph_id,
    manager_name: row.manager_name,
    agent_name: row.agent_name,
    ...ownership(row),
  };
}
