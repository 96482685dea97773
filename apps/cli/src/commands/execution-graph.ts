import type { Operations } from '@baton/client';
import type { Command } from 'commander';
import { collect } from '../collect';
import { type Cli, command, noun, option, required } from '../layer/define';
import { callCommand } from '../layer/resource';

const STAGE_COLUMNS = ['stage', 'kind', 'state', 'error'];
const TASK_COLUMNS = ['graph', 'name', 'type', 'state', 'instance', 'operation'];

/** `baton executions graph ID`, `states ID`, and the stored graphs that clients read: `baton tasks-graphs`, `baton operations`. */
export function graphCommands(cli: Cli, executions: Command): void {
  command(cli, executions, {
    name: 'graph <id>',
    about: 'show its stages and tasks; of one that has not begun, what it would do',
    uses: ['getExecutionGraph'],
    isWatched: true,
    run: async ({ args: [id], client, out }) => {
      const answer = await client.call('getExecutionGraph', { params: { executionId: id } });
      if (out.isMachine) return out.record(answer);
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
    },
  });
  callCommand(cli, executions, {
    name: 'states <id>',
    about: 'show node instances in the states that an execution had given them',
    operation: 'getTopologyStates',
    options: [option('--at <event>', 'when it wrote this event; default: at its latest')],
    request: ([executionId], { at }) => ({ params: { executionId }, query: { at } }),
  });
  storedGraphs(cli);
}

function storedGraphs(cli: Cli): void {
  const graphs = noun(cli, 'tasks-graphs', {
    alias: 'tasks-graph',
    about: 'stored graphs of executions',
    examples: ['tasks-graphs list -e 019a...'],
  });
  command(cli, graphs, {
    name: 'list',
    about: 'list the graphs of an execution',
    uses: ['listTasksGraphs'],
    options: [required('-e, --execution <id>', 'execution'), option('--name <name>', 'only of this name')],
    run: async ({ options, client, out }) => {
      const query = { execution_id: options.execution, name: options.name };
      out.table(await collect(client.all('listTasksGraphs', { query })), [
        'id',
        'name',
        'execution_id',
        'created_at',
      ]);
    },
  });
  const operations = noun(cli, 'operations', {
    alias: 'operation',
    about: 'stored operations of executions',
    examples: ['operations list -e 019a... --state failed'],
  });
  command(cli, operations, {
    name: 'list',
    about: 'list the operations of an execution or a graph',
    uses: ['listOperations'],
    options: [
      option('-e, --execution <id>', 'execution'),
      option('-g, --graph <id>', 'graph'),
      option('--state <state>', 'only in this state'),
      option('--skip-internal', 'without those that the engine runs itself'),
    ],
    run: async ({ options, client, out }) => {
      const query = {
        execution_id: options.execution,
        graph_id: options.graph,
        state: options.state,
        skip_internal: options.skipInternal,
      };
      const answer = await client.call('listOperations', { query });
      out.table(
        Array.isArray(answer) ? answer : answer.items,
        ['id', 'name', 'type', 'state', 'created_at'],
        { wide: ['dependencies', 'parameters'] },
      );
    },
  });
  callCommand(cli, operations, {
    name: 'get <id>',
    about: 'show a stored operation',
    operation: 'getOperation',
    request: ([operation_id]) => ({ params: { operation_id } }),
  });
}

type Graph = Operations['getExecutionGraph']['answer']['graphs'][number];

function tasksOf({ name: graph, operations }: Graph) {
  return operations.map(({ name, type, state, parameters }) => {
    const task = (parameters as { task_kwargs: Record<string, unknown> }).task_kwargs;
    return { graph, name, type, state, instance: task.nodeInstanceId, operation: task.operation };
  });
}
