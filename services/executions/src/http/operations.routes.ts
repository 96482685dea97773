import { operationRoutes } from '@baton/contracts/http/operations';
import { type BoundRoute, bindRoutes, booleanOf, type Wire } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { executionScope } from '../queries/list-executions';
import { listOperations } from '../queries/list-operations';
import { visibleExecution } from '../queries/visible-execution';
import type { DB } from '../store/tables.gen';
import { graphsOfExecution } from '../store/tasks.sql';

const wholePage = <T>(items: T[]) => ({
  items,
  metadata: { pagination: { total: items.length, offset: 0, size: items.length }, filtered: null },
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
      return deps.wire === 'cloudify' ? wholePage(items) : items;
    },
    async listTasksGraphs(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.query.execution_id);
      const graphs = await graphsOfExecution(deps.db.query, execution.id);
      const named = graphs.filter((graph) => call.query.name === undefined || graph.name === call.query.name);
      return wholePage(
        named.map(({ id, execution_id, name, created_at }) => ({ id, execution_id, name, created_at })),
      );
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
