import type { Command } from 'commander';
import { exitCodes } from '../exit-codes';
import { CommandFailure, UsageFailure } from '../failure';
import { followExecution } from '../follow';
import { collectLabels, collectValues } from '../key-values';
import {
  type Cli,
  command,
  noun,
  option,
  type Run,
  repeated,
  required,
  visibilityOption,
} from '../layer/define';
import { callCommand, getCommand, listCommand } from '../layer/resource';
import { dependencyCommands } from './dependencies';
import { updateCommands } from './deployment-updates';

const SHOWN = {
  columns: [
    'id',
    'blueprint_id',
    'installation_status',
    'deployment_status',
    'latest_execution_status',
    'created_at',
  ],
  wide: ['display_name', 'site_name', 'visibility', 'created_by', 'tenant_name', 'drifted_instances'],
};
const DELETE_LIMIT_S = 600;

export function deploymentCommands(cli: Cli): void {
  const deployments = noun(cli, 'deployments', {
    alias: 'deployment',
    about: 'deployments of the tenant',
    examples: [
      'deployments create hello -b hello -i audience=you',
      'deployments list --labels-rule env=prod',
      'deployments update hello -b hello-2 --preview',
    ],
  });
  createCommand(cli, deployments);
  listCommand(cli, deployments, {
    ...SHOWN,
    operation: 'listDeployments',
    search: 'searchDeployments',
    about: 'list deployments',
    fields: [
      {
        flags: '-b, --blueprint <id>',
        about: 'only of this blueprint',
        field: 'blueprint_id',
        key: 'blueprint',
      },
    ],
    examples: [
      'deployments list --filter-id production --sort -created_at',
      'deployments list --where installation_status=active -o name',
      'deployments list --labels-rule env=[prod,stage] --attrs-rule "blueprint_id contains web"',
    ],
  });
  getCommand(cli, deployments, {
    ...SHOWN,
    operation: 'getDeployment',
    param: 'id',
    about: 'show a deployment',
    more: ['description', 'inputs', 'labels'],
  });
  valueCommands(cli, deployments);
  changeCommands(cli, deployments);
  stateCommands(cli, deployments);
  deleteCommand(cli, deployments);
  updateCommands(cli, deployments);
  dependencyCommands(cli);
}

function createCommand(cli: Cli, deployments: Command): void {
  callCommand(cli, deployments, {
    name: 'create <id>',
    about: 'create a deployment from a blueprint',
    operation: 'createDeployment',
    options: [
      required('-b, --blueprint <id>', 'blueprint'),
      repeated('-i, --input <name=value|file>', 'input, or a YAML file of inputs'),
      repeated('-l, --label <key=value>', 'label'),
      option('--display-name <text>', 'name for people'),
      option('--site <name>', 'site'),
      visibilityOption('tenant'),
      option('--skip-plugins-validation', 'also when a plugin is missing'),
      option('--runtime-only-evaluation', 'evaluate functions only when they are read'),
    ],
    examples: ['deployments create hello -b hello -i audience=you -i inputs.yaml -l env=prod'],
    request: ([id], options) => {
      const labels = collectLabels(options.label);
      return {
        params: { id },
        body: {
          blueprint_id: options.blueprint,
          inputs: collectValues(options.input),
          visibility: options.visibility,
          ...(labels.length > 0 ? { labels } : {}),
          ...(options.displayName ? { display_name: options.displayName } : {}),
          ...(options.site ? { site_name: options.site } : {}),
          ...(options.skipPluginsValidation ? { skip_plugins_validation: true } : {}),
          ...(options.runtimeOnlyEvaluation ? { runtime_only_evaluation: true } : {}),
        },
      };
    },
    done: ([id]) => `Deployment ${id} created.`,
  });
}

function valueCommands(cli: Cli, deployments: Command): void {
  command(cli, deployments, {
    name: 'outputs <id>',
    about: 'show the outputs with their values',
    uses: ['getDeploymentOutputs'],
    isWatched: true,
    run: async ({ args: [id], client, out }) =>
      out.record((await client.call('getDeploymentOutputs', { params: { id } })).outputs),
  });
  command(cli, deployments, {
    name: 'capabilities <id>',
    about: 'show the capabilities with their values',
    uses: ['getDeploymentCapabilities'],
    isWatched: true,
    run: async ({ args: [id], client, out }) =>
      out.record((await client.call('getDeploymentCapabilities', { params: { id } })).capabilities),
  });
}

function changeCommands(cli: Cli, deployments: Command): void {
  callCommand(cli, deployments, {
    name: 'set <id>',
    about: 'replace the labels or the display name',
    operation: 'updateDeployment',
    options: [
      repeated('-l, --label <key=value>', 'the labels become these'),
      option('--display-name <text>', 'name for people'),
    ],
    request: ([id], { label, displayName }) => {
      if (label.length === 0 && displayName === undefined)
        throw new UsageFailure('give --label or --display-name');
      const labels = label.length > 0 ? { labels: collectLabels(label) } : {};
      return {
        params: { id },
        body: { ...labels, ...(displayName === undefined ? {} : { display_name: displayName }) },
      };
    },
    done: ([id]) => `Deployment ${id} changed.`,
  });
  callCommand(cli, deployments, {
    name: 'set-site <id>',
    about: 'assign a site, or detach it',
    operation: 'setDeploymentSite',
    options: [option('-s, --site-name <name>', 'site'), option('--detach-site', 'no site any more')],
    request: ([id], { siteName, detachSite }) => ({
      params: { id },
      body: detachSite ? { detach_site: true } : { site_name: siteName },
    }),
    done: ([id]) => `Site of deployment ${id} changed.`,
  });
  callCommand(cli, deployments, {
    name: 'set-visibility <id> <visibility>',
    about: 'widen who sees a deployment: tenant or global',
    operation: 'setDeploymentVisibility',
    request: ([id, visibility]) => ({ params: { id }, body: { visibility } }),
    done: ([id, visibility]) => `Deployment ${id} is visible to: ${visibility}.`,
  });
}

function stateCommands(cli: Cli, deployments: Command): void {
  callCommand(cli, deployments, {
    name: 'topology <id>',
    about: 'show its nodes, their relationships and how many instances are in which state',
    operation: 'getDeploymentTopology',
    request: ([id]) => ({ params: { id } }),
    isWatched: true,
  });
  callCommand(cli, deployments, {
    name: 'impact <id>',
    about: 'show what a delete would hit, and what would keep it',
    operation: 'getDeploymentImpact',
    options: [
      option('-f, --force', 'of a delete with --force'),
      option('--recursive', 'of a delete with --recursive'),
    ],
    request: ([id], { force, recursive }) => ({ params: { id }, query: { force, recursive } }),
  });
  command(cli, deployments, {
    name: 'drift <id>',
    about: 'show node instances whose configuration differs from what was expected',
    uses: ['getDeploymentDrift'],
    isWatched: true,
    run: async ({ args: [id], client, out }) => {
      const drift = await client.call('getDeploymentDrift', { params: { id } });
      if (out.isMachine) return out.record(drift);
      out.table(drift.instances, ['id', 'node_id', 'state', 'findings']);
      out.say(`${drift.total} instances of deployment ${id} differ`);
    },
  });
}

function deleteCommand(cli: Cli, deployments: Command): void {
  command(cli, deployments, {
    name: 'delete <id>',
    about: 'delete a deployment',
    uses: ['deleteDeployment', 'listExecutions', 'listDeployments', 'streamEvents'],
    options: [
      option('-f, --force', 'also with live node instances or dependents'),
      option('--with-logs', 'delete its events and logs as well'),
      option('--recursive', 'the deployments that it made, too'),
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const id = args[0];
      await client.call('deleteDeployment', {
        params: { id },
        query: { force: options.force, delete_logs: options.withLogs, recursive: options.recursive },
      });
      await untilGone(run, id);
      out.done(`Deployment ${id} deleted.`, { id });
    },
  });
}

/** Waits until a deployment is deleted. An execution does the deletion: it is followed; afterwards the deployment must be gone. */
async function untilGone(
  { client, out, io }: Run<'listExecutions' | 'listDeployments' | 'streamEvents'>,
  id: string,
): Promise<void> {
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
    const follow = { isVerbose: false, timeoutS: DELETE_LIMIT_S };
    await followExecution({ client, io, out: quiet }, execution.id!, follow).catch((error: unknown) => {
      // The events of the execution are deleted with the deployment.
      if ((error as { status?: number }).status !== 404) throw error;
    });
  }
  const left = await client.call('listDeployments', { query: { id, _include: 'id' } });
  if (left.items.length > 0)
    throw new CommandFailure(`deployment ${id} is still being deleted`, exitCodes.waitEnded);
}
