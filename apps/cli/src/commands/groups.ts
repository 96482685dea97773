import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { collectLabels, collectValues } from '../key-values';
import { type Cli, command, noun, number, option, repeated, required } from '../layer/define';
import { callCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['id', 'default_blueprint_id', 'creation_counter', 'visibility', 'created_at'],
  wide: ['description', 'created_by', 'tenant_name'],
};
const EXECUTION_SHOWN = {
  columns: ['id', 'workflow_id', 'deployment_group_id', 'concurrency', 'status', 'created_at'],
  wide: ['created_by', 'tenant_name', 'visibility'],
};

/** Deployment groups and the execution groups that run on them. */
export function groupCommands(cli: Cli): void {
  const groups = noun(cli, 'groups', {
    alias: 'group',
    about: 'sets of deployments',
    examples: [
      'groups put prod -b web -d web-1 -d web-2',
      'groups extend prod --count 3',
      'execution-groups start install -g prod',
    ],
  });
  putCommand(cli, groups);
  memberCommands(cli, groups);
  listCommand(cli, groups, { ...SHOWN, operation: 'listDeploymentGroups', about: 'list groups' });
  getCommand(cli, groups, {
    ...SHOWN,
    operation: 'getDeploymentGroup',
    param: 'id',
    about: 'show a group with its members',
    more: ['default_inputs', 'labels', 'deployment_ids'],
  });
  deleteGroupCommand(cli, groups);
  executionGroupCommands(cli);
}

function putCommand(cli: Cli, groups: Command): void {
  callCommand(cli, groups, {
    name: 'put <id>',
    about: 'make a group, or change one',
    operation: 'putDeploymentGroup',
    options: [
      option('-b, --blueprint <id>', 'default blueprint of deployments made in the group'),
      repeated('-i, --input <name=value|file>', 'default input, or a YAML file of inputs'),
      repeated('-l, --label <key=value>', 'label of the group and its members'),
      repeated('-d, --deployment <id>', 'member; the members become these'),
      option('--description <text>', 'description'),
    ],
    request: ([id], options) => {
      const labels = collectLabels(options.label);
      return {
        params: { id },
        body: {
          description: options.description,
          blueprint_id: options.blueprint,
          ...(options.input.length > 0 ? { default_inputs: collectValues(options.input) } : {}),
          ...(labels.length > 0 ? { labels } : {}),
          ...(options.deployment.length > 0 ? { deployment_ids: options.deployment } : {}),
        },
      };
    },
    done: ([id]) => `Group ${id} is there.`,
  });
}

function memberCommands(cli: Cli, groups: Command): void {
  callCommand(cli, groups, {
    name: 'extend <id>',
    about: 'add deployments to a group, or make new ones in it',
    operation: 'patchDeploymentGroup',
    isRepeatable: true,
    options: [
      repeated('-d, --deployment <id>', 'deployment to add'),
      option('--filter <id>', 'stored filter whose deployments are added'),
      number('-c, --count <n>', 'how many deployments to make', 0),
      option('--id <template>', 'id of those, with {count}, {uuid}, {group_id}'),
      repeated('-i, --input <name=value|file>', 'input of those'),
    ],
    request: ([id], options) => {
      const one = { id: options.id, inputs: collectValues(options.input) };
      return {
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
      };
    },
    done: ([id], group) => `Group ${id} has ${(group.deployment_ids ?? []).length} deployments.`,
  });
  callCommand(cli, groups, {
    name: 'shrink <id>',
    about: 'take deployments out of a group; they stay',
    operation: 'patchDeploymentGroup',
    options: [
      repeated('-d, --deployment <id>', 'deployment to take out'),
      option('--filter <id>', 'stored filter whose deployments are taken out'),
    ],
    request: ([id], { deployment, filter }) => {
      if (deployment.length === 0 && filter === undefined)
        throw new UsageFailure('give --deployment or --filter');
      return {
        params: { id },
        body: {
          remove: {
            ...(deployment.length > 0 ? { deployment_ids: deployment } : {}),
            ...(filter ? { filter_id: filter } : {}),
          },
        },
      };
    },
    done: ([id], group) => `Group ${id} has ${(group.deployment_ids ?? []).length} deployments.`,
  });
}

function deleteGroupCommand(cli: Cli, groups: Command): void {
  command(cli, groups, {
    name: 'delete <id>',
    about: 'delete a group',
    uses: ['deleteDeploymentGroup'],
    options: [
      option('--with-deployments', 'its deployments too'),
      option('-f, --force', 'also deployments that are installed or in use'),
    ],
    run: async ({ args: [id], options, client, out }) => {
      const answer = (await client.call('deleteDeploymentGroup', {
        params: { id },
        query: { delete_deployments: options.withDeployments, force: options.force },
      })) as { execution_group_id?: string } | undefined;
      const more = answer?.execution_group_id
        ? `; execution group ${answer.execution_group_id} deletes its deployments`
        : '';
      out.done(`Group ${id} deleted${more}.`, answer ?? {});
    },
  });
}

function executionGroupCommands(cli: Cli): void {
  const groups = noun(cli, 'execution-groups', {
    alias: 'execution-group',
    about: 'workflows run on whole groups',
    examples: ['execution-groups start install -g prod -c 10'],
  });
  command(cli, groups, {
    name: 'start <workflow>',
    about: 'run a workflow on every deployment of a group',
    uses: ['createExecutionGroup'],
    options: [
      required('-g, --group <id>', 'deployment group'),
      repeated('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them'),
      number('-c, --concurrency <n>', 'deployments at a time', 5),
      option('-f, --force', 'also while other executions run'),
    ],
    run: async ({ args: [workflow], options, client, out }) => {
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
      const members = (group.execution_ids ?? []).length;
      out.done(`Execution group ${group.id}: ${workflow} on ${members} deployments.`, group);
    },
  });
  listCommand(cli, groups, {
    ...EXECUTION_SHOWN,
    operation: 'listExecutionGroups',
    about: 'list execution groups',
    query: { _get_data: true },
  });
  getCommand(cli, groups, {
    ...EXECUTION_SHOWN,
    operation: 'getExecutionGroup',
    param: 'id',
    about: 'show an execution group with its executions',
    more: ['execution_ids'],
  });
  groupActions(cli, groups);
}

function groupActions(cli: Cli, groups: Command): void {
  for (const [action, about] of [
    ['cancel', 'let nothing new start, wait for what runs'],
    ['force-cancel', 'end all now, stop running operations'],
    ['kill', 'end all now, kill running operations'],
    ['resume', 'go on with those that failed or were cancelled'],
  ] as const) {
    callCommand(cli, groups, {
      name: `${action} <id>`,
      about,
      operation: 'actOnExecutionGroup',
      request: ([id]) => ({ params: { id }, body: { action } }),
      done: ([id], { status }) => `Execution group ${id} is ${status}.`,
    });
  }
  callCommand(cli, groups, {
    name: 'update <id>',
    about: 'change the concurrency, or name the groups that collect ended deployments',
    operation: 'patchExecutionGroup',
    options: [
      number('-c, --concurrency <n>', 'deployments at a time'),
      option('--success-group <id>', 'deployment group for those that ended well'),
      option('--failure-group <id>', 'deployment group for the others'),
    ],
    request: ([id], { concurrency, successGroup, failureGroup }) => ({
      params: { id },
      body: { concurrency, success_group_id: successGroup, failure_group_id: failureGroup },
    }),
    done: ([id]) => `Execution group ${id} changed.`,
  });
}
