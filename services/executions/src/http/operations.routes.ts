import { operationRoutes } from '@baton/contracts/http/operations';
import { type BoundRoute, bindRoutes, booleanOf, pickFields, type Wire } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { executionScope } from '../queries/list-executions';
import { listOperations, ownership } from '../queries/list-operations';
import { visibleExecution } from '../queries/visible-execution';
import type { DB } from '../store/tables.gen';
import { graphsOfExecution } from '../store/tasks.sql';

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

/** Routes of stored operations and tasks graphs (spec v3.1 part 2 "Operations", reference/rest-api.md 5.17). */
export function operationsRoutes(deps: { db: Db<DB>; wire: Wire }): BoundRoute[] {
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
      const items = await listOperations(
        deps.db.query,
        { graphId, executionId, states, skipInternal },
        scope,
      );
      if (deps.wire === 'cloudify') return pageOf(items, call.query);
      return call.query._size === undefined && call.query._offset === undefined
        ? items
        : cut(items, call.query);
    },
    async listTasksGraphs(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.query.execution_id);
      const graphs = await graphsOfExecution(deps.db.query, execution.id);
      const named = graphs.filter((graph) => call.query.name === undefined || graph.name === call.query.name);
      const items = named.map(({ id, execution_id, name, created_at }) =>
        pickFields({ id, execution_id, name, created_at, ...ownership(execution) }, call.include),
      );
      // Already applied to the items; the envelope stays whole.
      call.include = null;
      return pageOf(items, call.query);
    },
    async getExecutionGraph(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      const graphs = await graphsOfExecution(deps.db.query, execution.id);
      const scope = executionScope(call.principal, false);
      const operations = await listOperations(
        deps.db.query,
        { executionId: execution.id, states: [], skipInternal: false },
        scope,
      );
      return {
        execution_id: execution.id,
        graphs: graphs.map((graph) => ({
          id: graph.id,
          name: graph.name,
          created_at: graph.created_at,
          ended: graph.flags.ended,
          operations: operations.filter((operation) => operation.tasks_graph_id === graph.id),
        })),
      };
    },
  });
}
