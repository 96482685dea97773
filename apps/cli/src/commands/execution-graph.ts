import type { Operations } from '@baton/client';
import type { Command } from 'commander';
import { sessionOf } from '../session';

const STAGE_COLUMNS = ['stage', 'kind', 'state', 'error'];
const TASK_COLUMNS = ['graph', 'name', 'type', 'state', 'instance', 'operation'];

/** `baton executions graph ID`: stages and tasks, or what an execution that has not begun would do. */
export function graphCommand(executions: Command): void {
  executions
    .command('graph <id>')
    .description('show its stages and tasks; of one that has not begun, what it would do')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const answer = await client.call('getExecutionGraph', { params: { executionId: id } });
      if (out.isJson) return out.record(answer);
      out.say(`Execution ${id} is ${answer.status}${answer.is_planned ? '; it would do this:' : ''}`);
      const stages = answer.stages.map(({ name: stage, kind, call, state, error }) => ({
        stage,
        kind: call ?? kind,
        state,
        error,
      }));
      out.table(stages, STAGE_COLUMNS);
      out.table(answer.graphs.flatMap(tasksOf), TASK_COLUMNS);
      if (answer.error !== null) out.say(`It would fail: ${answer.error}`);
    });
}

type Graph = Operations['getExecutionGraph']['answer']['graphs'][number];

function tasksOf({ name: graph, operations }: Graph) {
  return operations.map(({ name, type, state, parameters }) => {
    const task = (parameters as { task_kwargs: Record<string, unknown> }).task_kwargs;
    return { graph, name, type, state, instance: task.nodeInstanceId, operation: task.operation };
  });
}
