import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { collectTexts, collectValues } from '../key-values';
import { type Cli, noun, type Options, repeated, required } from '../layer/define';
import { callCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['id', 'deployment_id', 'status', 'created_at', 'ended_at'],
  wide: ['created_by', 'tenant_name', 'visibility'],
};

/** `baton modifications ...`: changes of the number of node instances, outside of a scale workflow. */
export function modificationCommands(cli: Cli): void {
  const modifications = noun(cli, 'modifications', {
    alias: 'modification',
    about: 'changes of the number of node instances of a deployment',
    examples: ['modifications start web --instances app=3', 'modifications finish 5a1b...'],
  });
  listCommand(cli, modifications, {
    ...SHOWN,
    operation: 'listDeploymentModifications',
    about: 'list modifications',
    fields: [
      {
        flags: '-d, --deployment <id>',
        about: 'only of this deployment',
        field: 'deployment_id',
        key: 'deployment',
      },
    ],
  });
  getCommand(cli, modifications, {
    ...SHOWN,
    operation: 'getDeploymentModification',
    param: 'id',
    about: 'show a modification with its node instances',
    more: ['modified_nodes', 'node_instances', 'context'],
  });
  callCommand(cli, modifications, {
    name: 'start <deployment>',
    about: 'start a modification; it ends with finish or rollback',
    operation: 'startDeploymentModification',
    options: [
      required(
        '--instances <node=count>',
        'number of instances of a node or scaling group; repeatable',
      ).argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]),
      repeated('--context <name=value|file>', 'what is kept with it'),
    ],
    request: ([deployment_id], o) => ({
      body: {
        deployment_id,
        nodes: nodesOf(o),
        ...(o.context.length > 0 ? { context: collectValues(o.context) } : {}),
      },
    }),
    done: (_args, { id }) =>
      `Modification ${id} started. End it: baton modifications finish ${id}, or rollback ${id}`,
  });
  endCommands(cli, modifications);
}

function endCommands(cli: Cli, modifications: Command): void {
  callCommand(cli, modifications, {
    name: 'finish <id>',
    about: 'keep a modification',
    operation: 'finishDeploymentModification',
    request: ([id]) => ({ params: { id } }),
    done: ([id], { status }) => `Modification ${id} is ${status}.`,
  });
  callCommand(cli, modifications, {
    name: 'rollback <id>',
    about: 'undo a modification',
    operation: 'rollbackDeploymentModification',
    request: ([id]) => ({ params: { id } }),
    done: ([id], { status }) => `Modification ${id} is ${status}.`,
  });
}

function nodesOf({ instances }: Options): Record<string, { instances: number }> {
  return Object.fromEntries(
    Object.entries(collectTexts('--instances', instances)).map(([node, text]) => {
      const count = Number(text);
      if (!Number.isInteger(count) || count < 0 || text.trim() === '')
        throw new UsageFailure(`--instances ${node}=${text}: expected a whole number of at least 0`);
      return [node, { instances: count }];
    }),
  );
}
