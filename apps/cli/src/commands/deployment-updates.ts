import type { AnswerOf } from '@baton/client';
import type { Command } from 'commander';
import { followExecution, followOf, followOptions } from '../follow';
import { collectValues } from '../key-values';
import { type Cli, command, noun, number, option, repeated } from '../layer/define';
import { getCommand, listCommand } from '../layer/resource';
import type { Printer } from '../output';

const SHOWN = {
  columns: [
    'id',
    'deployment_id',
    'state',
    'old_blueprint_id',
    'new_blueprint_id',
    'execution_id',
    'created_at',
  ],
  wide: ['created_by', 'tenant_name', 'visibility', 'runtime_only_evaluation'],
};
type Update = AnswerOf<'getDeploymentUpdate'>;

/** `baton deployments update` and `baton deployment-updates ...`. */
export function updateCommands(cli: Cli, deployments: Command): void {
  const updates = noun(cli, 'deployment-updates', {
    alias: 'deployment-update',
    about: 'updates of deployments, with what they change',
    examples: ['deployments update web -b web-2 --preview', 'deployment-updates diff 4f0c...'],
  });
  listCommand(cli, updates, {
    ...SHOWN,
    operation: 'listDeploymentUpdates',
    about: 'list deployment updates',
    fields: [
      {
        flags: '-d, --deployment <id>',
        about: 'only of this deployment',
        field: 'deployment_id',
        key: 'deployment',
      },
    ],
  });
  getCommand(cli, updates, {
    ...SHOWN,
    operation: 'getDeploymentUpdate',
    param: 'update_id',
    about: 'show a deployment update',
    more: ['old_inputs', 'new_inputs', 'steps'],
  });
  command(cli, updates, {
    name: 'diff <id>',
    about: 'show what an update changes: before, after, and what becomes of node instances',
    uses: ['getDeploymentUpdate'],
    run: async ({ args: [id], client, out }) =>
      showDiff(out, await client.call('getDeploymentUpdate', { params: { update_id: id } })),
  });
  startCommand(cli, deployments);
}

function startCommand(cli: Cli, deployments: Command): void {
  command(cli, deployments, {
    name: 'update <id>',
    about: 'bring a deployment to another blueprint or other inputs',
    uses: ['initiateDeploymentUpdate', 'streamEvents'],
    options: [
      option('-b, --blueprint <id>', 'blueprint; default: the same'),
      repeated('-i, --input <name=value|file>', 'input, or a YAML file of inputs'),
      option('--preview', 'show what would change, and change nothing'),
      repeated('-r, --reinstall <instance>', 'node instance to reinstall'),
      option('--workflow <name>', 'workflow instead of the usual one'),
      number('--workflow-timeout <seconds>', 'longest time of that workflow'),
      option('--skip-install', 'no new node instances'),
      option('--skip-uninstall', 'no node instances fewer'),
      option('--skip-reinstall', 'no reinstall of changed nodes'),
      option('--force-reinstall', 'reinstall instead of updating'),
      option('--skip-drift-check', 'without a check for drift'),
      option('--skip-heal', 'without healing before it'),
      option('--install-first', 'install before the uninstall'),
      option('--ignore-failure', 'go on when an uninstall fails'),
      option('--keep-plugins', 'without an update of plugins'),
      option('--auto-correct-types', 'convert inputs to the types that the blueprint declares'),
      option('--reevaluate-active-statuses', 'look again which node instances are active'),
      option('--runtime-only-evaluation', 'evaluate functions only when they are read'),
      option('-f, --force', 'also when an earlier update has not ended'),
      ...followOptions(),
    ],
    examples: ['deployments update web -b web-2 --preview', 'deployments update web -i size=3'],
    run: async (run) => {
      const { args, options, client, out } = run;
      const update = await client.call('initiateDeploymentUpdate', {
        params: { deployment_id: args[0] },
        body: bodyOf(options),
      });
      if (options.preview) return showDiff(out, update);
      if (options.detach || update.execution_id === null) {
        out.done(`Update ${update.id} of deployment ${args[0]} is ${update.state}.`, update);
        return;
      }
      out.say(`Update ${update.id} of deployment ${args[0]}, execution ${update.execution_id}`);
      await followExecution(run, update.execution_id, followOf(options));
    },
  });
}

function bodyOf(o: Record<string, any>) {
  return {
    ...(o.blueprint === undefined ? {} : { blueprint_id: o.blueprint }),
    inputs: collectValues(o.input),
    ...(o.reinstall.length > 0 ? { reinstall_list: o.reinstall } : {}),
    preview: o.preview ?? false,
    workflow_id: o.workflow,
    custom_workflow_timeout: o.workflowTimeout,
    skip_install: o.skipInstall ?? false,
    skip_uninstall: o.skipUninstall ?? false,
    skip_reinstall: o.skipReinstall ?? false,
    force_reinstall: o.forceReinstall ?? false,
    skip_drift_check: o.skipDriftCheck ?? false,
    skip_heal: o.skipHeal ?? false,
    install_first: o.installFirst ?? false,
    ignore_failure: o.ignoreFailure ?? false,
    update_plugins: o.keepPlugins !== true,
    auto_correct_types: o.autoCorrectTypes ?? false,
    reevaluate_active_statuses: o.reevaluateActiveStatuses ?? false,
    runtime_only_evaluation: o.runtimeOnlyEvaluation,
    force: o.force ?? false,
  };
}

const SIGNS = { add: '+', remove: '-', modify: '~' } as const;
const shown = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

/** Shows the changes of an update, one a line: `~ node n properties.size: 1 -> 2 (reinstall)`. */
function showDiff(out: Printer, update: Update): void {
  if (out.isMachine) return out.record(update);
  const changes = update.changes ?? [];
  for (const { action, node_id, path, before, after, effect } of changes) {
    const place = [node_id === null ? 'deployment' : `node ${node_id}`, path.join('.')]
      .filter(Boolean)
      .join(' ');
    const values = action === 'modify' ? `: ${shown(before)} -> ${shown(after)}` : '';
    out.say(`${SIGNS[action]} ${place}${values} (${effect})`);
  }
  if (update.changes === undefined || update.changes === null)
    out.say(`The changes of update ${update.id} are not known yet.`);
  else out.say(changes.length === 0 ? 'Nothing changes.' : `${changes.length} changes`);
}
