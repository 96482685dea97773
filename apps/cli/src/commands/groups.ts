import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { collect } from '../collect';
import { collectLabels, collectValues, gather } from '../key-values';
import { sessionOf } from '../session';

const COLUMNS = ['id', 'default_blueprint_id', 'creation_counter', 'visibility', 'created_at'];
const EXECUTION_COLUMNS = ['id', 'workflow_id', 'deployment_group_id', 'concurrency', 'status', 'created_at'];

/** Deployment groups and the execution groups that run on them. */
export function groupCommands(program: Command): void {
  const groups = program.command('groups').alias('group').description('sets of deployments');
  putCommand(groups);
  extendCommand(groups);
  readCommands(groups);
  deleteCommand(groups);
  const executions = program.command('execution-groups').description('workflows run on whole groups');
  startCommand(executions);
  readExecutionCommands(executions);
  actionCommands(executions);
}

function putCommand(groups: Command): void {
  groups
    .command('put <id>')
    .description('make a group, or change one')
    .option('-b, --blueprint <id>', 'default blueprint of deployments made in the group')
    .option(
      '-i, --input <name=value|file>',
      'default input, or a YAML file of inputs; repeatable',
      gather,
      [],
    )
    .option('-l, --label <key=value>', 'label of the group and its members, repeatable', gather, [])
    .option('-d, --deployment <id>', 'member, repeatable; the members become these', gather, [])
    .option('--description <text>', 'description')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const labels = collectLabels(options.label);
      const group = await client.call('putDeploymentGroup', {
        params: { id },
        body: {
          description: options.description,
          blueprint_id: options.blueprint,
          ...(options.input.length > 0 ? { default_inputs: collectValues(options.input) } : {}),
          ...(labels.length > 0 ? { labels } : {}),
          ...(options.deployment.length > 0 ? { deployment_ids: options.deployment } : {}),
        },
      });
      out.done(`Group ${id} is there.`, group as object);
    });
}

function extendCommand(groups: Command): void {
  groups
    .command('extend <id>')
    .description('add deployments to a group, or make new ones in it')
    .option('-d, --deployment <id>', 'deployment to add, repeatable', gather, [])
    .option('--filter <id>', 'stored filter whose deployments are added')
    .option('-c, --count <n>', 'how many deployments to make', Number, 0)
    .option('--id <template>', 'id of those, with {count}, {uuid}, {group_id}')
    .option('-i, --input <name=value|file>', 'input of those, repeatable', gather, [])
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const one = { id: options.id, inputs: collectValues(options.input) };
      const group = await client.call('patchDeploymentGroup', {
        idempotencyKey: newId(),
        params: { id },
        body: {
          add: {
            ...(options.deployment.length > 0 ? { deployment_ids: options.deployment } : {}),
            ...(options.filter ? { filter_id: options.filter } : {}),
            ...(options.count > 0
              ? { new_deployments: Array.from({ length: options.count }, () => one) }
              : {}),
          },
        },
      });
      out.done(`Group ${id} has ${(group.deployment_ids ?? []).length} deployments.`, group);
    });
}

function readCommands(groups: Command): void {
  groups
    .command('list')
    .description('list groups')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      out.table(await collect(client.all('listDeploymentGroups', {})), COLUMNS);
    });
  groups
    .command('get <id>')
    .description('show a group with its members')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const group = await client.call('getDeploymentGroup', { params: { id } });
      out.record(group as object, [...COLUMNS, 'description', 'default_inputs', 'labels', 'deployment_ids']);
    });
}

function deleteCommand(groups: Command): void {
  groups
    .command('delete <id>')
    .description('delete a group')
    .option('--with-deployments', 'its deployments too')
    .option('-f, --force', 'also deployments that are installed or in use')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { delete_deployments: options.withDeployments, force: options.force };
      const answer = (await client.call('deleteDeploymentGroup', {
        params: { id },
        query,
      })) as { execution_group_id?: string } | undefined;
      const more = answer?.execution_group_id
        ? `; execution group ${answer.execution_group_id} deletes its deployments`
        : '';
      out.done(`Group ${id} deleted${more}.`, answer ?? {});
    });
}

function startCommand(executions: Command): void {
  executions
    .command('start <workflow>')
    .description('run a workflow on every deployment of a group')
    .requiredOption('-g, --group <id>', 'deployment group')
    .option('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them; repeatable', gather, [])
    .option('-c, --concurrency <n>', 'deployments at a time', Number, 5)
    .option('-f, --force', 'also while other executions run')
    .action(async (workflow: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const group = await client.call('createExecutionGroup', {
        idempotencyKey: newId(),
        body: {
          deployment_group_id: options.group,
          workflow_id: workflow,
          default_parameters: collectValues(options.parameter),
          concurrency: options.concurrency,
          force: options.force ?? false,
        },
      });
      out.done(
        `Execution group ${group.id}: ${workflow} on ${(group.execution_ids ?? []).length} deployments.`,
        group,
      );
    });
}

function readExecutionCommands(executions: Command): void {
  executions
    .command('list')
    .description('list execution groups')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { _get_data: true };
      out.table(await collect(client.all('listExecutionGroups', { query })), EXECUTION_COLUMNS);
    });
  executions
    .command('get <id>')
    .description('show an execution group with its executions')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const group = await client.call('getExecutionGroup', { params: { id } });
      out.record(group as object, [...EXECUTION_COLUMNS, 'execution_ids']);
    });
}

function actionCommands(executions: Command): void {
  for (const [action, text] of [
    ['cancel', 'let nothing new start, wait for what runs'],
    ['force-cancel', 'end all now, stop running operations'],
    ['kill', 'end all now, kill running operations'],
    ['resume', 'go on with those that failed or were cancelled'],
  ] as const) {
    executions
      .command(`${action} <id>`)
      .description(text)
      .action(async (id: string, _options, command: Command) => {
        const { client, out } = sessionOf(command);
        const group = await client.call('actOnExecutionGroup', {
          params: { id },
          body: { action },
        });
        out.done(`Execution group ${id} is ${group.status}.`, group);
      });
  }
}
