import type { Command } from 'commander';
import { collect } from '../collect';
import { CommandFailure } from '../failure';
import { followExecution } from '../follow';
import { collectLabels, collectValues, gather } from '../key-values';
import { sessionOf } from '../session';

const COLUMNS = [
  'id',
  'blueprint_id',
  'installation_status',
  'deployment_status',
  'latest_execution_status',
  'created_at',
];
const DELETE_LIMIT_S = 600;

export function deploymentCommands(program: Command): void {
  const deployments = program
    .command('deployments')
    .alias('deployment')
    .description('deployments of the tenant');
  createCommand(deployments);
  listCommand(deployments);
  getCommand(deployments);
  valueCommands(deployments);
  deleteCommand(deployments);
}

function createCommand(deployments: Command): void {
  deployments
    .command('create <id>')
    .description('create a deployment from a blueprint')
    .requiredOption('-b, --blueprint <id>', 'blueprint')
    .option('-i, --input <name=value|file>', 'input, or a YAML file of inputs; repeatable', gather, [])
    .option('-l, --label <key=value>', 'label, repeatable', gather, [])
    .option('--site <name>', 'site')
    .option('--visibility <visibility>', 'private, tenant or global', 'tenant')
    .option('--skip-plugins-validation', 'also when a plugin is missing')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const labels = collectLabels(options.label);
      const deployment = await client.call('createDeployment', {
        params: { id },
        body: {
          blueprint_id: options.blueprint,
          inputs: collectValues(options.input),
          visibility: options.visibility,
          ...(labels.length > 0 ? { labels } : {}),
          ...(options.site ? { site_name: options.site } : {}),
          ...(options.skipPluginsValidation ? { skip_plugins_validation: true } : {}),
        },
      });
      out.done(`Deployment ${id} created.`, deployment as object);
    });
}

function listCommand(deployments: Command): void {
  deployments
    .command('list')
    .description('list deployments')
    .option('-b, --blueprint <id>', 'only of this blueprint')
    .option('--search <text>', 'part of the id')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { _include: COLUMNS.join(','), blueprint_id: options.blueprint, _search: options.search };
      out.table(await collect(client.all('listDeployments', { query })), COLUMNS);
    });
}

function getCommand(deployments: Command): void {
  deployments
    .command('get <id>')
    .description('show a deployment')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const deployment = await client.call('getDeployment', { params: { id } });
      out.record(deployment as object, [...COLUMNS, 'description', 'inputs', 'labels', 'site_name']);
    });
}

function valueCommands(deployments: Command): void {
  for (const [name, operation] of [
    ['outputs', 'getDeploymentOutputs'],
    ['capabilities', 'getDeploymentCapabilities'],
  ] as const) {
    deployments
      .command(`${name} <id>`)
      .description(`show the ${name} with their values`)
      .action(async (id: string, _options, command: Command) => {
        const { client, out } = sessionOf(command);
        const answer = await client.call(operation, { params: { id } });
        out.record('outputs' in answer ? answer.outputs : answer.capabilities);
      });
  }
}

function deleteCommand(deployments: Command): void {
  deployments
    .command('delete <id>')
    .description('delete a deployment')
    .option('-f, --force', 'also with live node instances or dependents')
    .option('--with-logs', 'delete its events and logs as well')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('deleteDeployment', {
        params: { id },
        query: { force: options.force, delete_logs: options.withLogs },
      });
      await untilGone(command, id);
      out.done(`Deployment ${id} deleted.`, { id });
    });
}

/** Deletion is carried out by an execution: it is followed, then the deployment must be gone. */
async function untilGone(command: Command, id: string): Promise<void> {
  const { client, out } = sessionOf(command);
  const executions = await client.call('listExecutions', {
    query: {
      deployment_id: id,
      workflow_id: 'delete_deployment_environment',
      _include_system_workflows: true,
      _sort: '-created_at',
      _size: 1,
      _include: 'id',
    },
  });
  const execution = executions.items[0];
  const quiet = { ...out, done: () => undefined };
  if (execution) {
    await followExecution(client, quiet, execution.id!, { isVerbose: false, timeoutS: DELETE_LIMIT_S }).catch(
      (error: unknown) => {
        // Its events go with the deployment.
        if ((error as { status?: number }).status !== 404) throw error;
      },
    );
  }
  const left = await client.call('listDeployments', { query: { id, _include: 'id' } });
  if (left.items.length > 0) throw new CommandFailure(`deployment ${id} is still being deleted`, 2);
}
