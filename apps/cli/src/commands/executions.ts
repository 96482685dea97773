import type { Operations } from '@baton/client';
import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { cellText } from '../cells';
import { followExecution, followOf, followOptions } from '../follow';
import { collectValues } from '../key-values';
import { type Cli, command, noun, number, option, repeated, required } from '../layer/define';
import { callCommand, getCommand, listCommand } from '../layer/resource';
import { graphCommands } from './execution-graph';

const SHOWN = {
  columns: [
    'id',
    'workflow_id',
    'deployment_id',
    'status',
    'finished_operations',
    'total_operations',
    'created_at',
    'ended_at',
  ],
  wide: ['error', 'started_at', 'scheduled_for', 'created_by', 'tenant_name', 'blueprint_id'],
};

export function executionCommands(cli: Cli): void {
  const executions = noun(cli, 'executions', {
    alias: 'execution',
    about: 'workflows that run or ran',
    examples: [
      'executions start install -d hello',
      'executions follow 019a...',
      'executions list -d hello --status failed',
    ],
  });
  startCommand(cli, executions);
  listCommand(cli, executions, {
    ...SHOWN,
    operation: 'listExecutions',
    about: 'list executions, newest last',
    fields: [
      {
        flags: '-d, --deployment <id>',
        about: 'only of this deployment',
        field: 'deployment_id',
        key: 'deployment',
      },
      { flags: '--status <status>', about: 'only in this status', field: 'status', key: 'status' },
    ],
    examples: ['executions list --where workflow_id=install --sort -created_at --size 10'],
  });
  getCommand(cli, executions, {
    ...SHOWN,
    operation: 'getExecution',
    param: 'executionId',
    about: 'show an execution',
    more: ['parameters'],
  });
  followCommand(cli, executions);
  actionCommands(cli, executions);
  bulkCommands(cli, executions);
  whyCommand(cli, executions);
  graphCommands(cli, executions);
}

function followCommand(cli: Cli, executions: Command): void {
  command(cli, executions, {
    name: 'follow <id>',
    about: 'show the events of an execution until it has ended; Ctrl-C lets it go on',
    uses: ['streamEvents'],
    options: followOptions().slice(1),
    run: (run) => followExecution(run, run.args[0], followOf(run.options)),
  });
}

function actionCommands(cli: Cli, executions: Command): void {
  for (const [name, text] of [
    ['cancel', 'let nothing new start, wait for what runs'],
    ['force-cancel', 'end now, stop running operations'],
    ['kill', 'end now, kill running operations'],
  ] as const) {
    callCommand(cli, executions, {
      name: `${name} <id>`,
      about: text,
      operation: 'actOnExecution',
      request: ([executionId]) => ({ params: { executionId }, body: { action: name } }),
      done: ([id], { status }) => `Execution ${id} is ${status}.`,
    });
  }
  command(cli, executions, {
    name: 'resume <id>',
    about: 'go on with a failed or cancelled execution, and show its events until it has ended',
    uses: ['actOnExecution', 'streamEvents'],
    options: [option('-f, --force', 'run operations again that may have run'), ...followOptions()],
    run: async (run) => {
      const { args, options, client, out } = run;
      const execution = await client.call('actOnExecution', {
        params: { executionId: args[0] },
        body: { action: options.force ? 'force-resume' : 'resume' },
      });
      if (options.detach) return out.done(`Execution ${args[0]} is ${execution.status}.`, execution);
      out.say(`Execution ${args[0]} goes on`);
      await followExecution(run, args[0], { ...followOf(options), isFromNow: true });
    },
  });
}

/** Filter options of commands that act on many executions at once. */
const filterOptions = () => [
  repeated('-d, --deployment <id>', 'of this deployment'),
  repeated('-b, --blueprint <id>', 'of deployments of this blueprint'),
  repeated('-w, --workflow <name>', 'of this workflow'),
  repeated('--status <status>', 'in this status'),
];

function filtersOf(options: Record<string, string[]>): Record<string, string[]> {
  const { deployment, blueprint, workflow, status } = options;
  const filters = { deployment_id: deployment, blueprint_id: blueprint, workflow_id: workflow, status };
  return Object.fromEntries(
    Object.entries(filters).filter((entry): entry is [string, string[]] => (entry[1] ?? []).length > 0),
  );
}

type BulkAction = Operations['actOnExecutions']['body']['action'];

function bulkCommands(cli: Cli, executions: Command): void {
  command(cli, executions, {
    name: 'bulk <action>',
    about:
      'cancel, force-cancel, kill, resume or force-resume every execution that the filters match, 500 at once',
    uses: ['actOnExecutions'],
    options: filterOptions(),
    run: async ({ args, options, client, out }) => {
      const answer = await client.call('actOnExecutions', {
        query: filtersOf(options),
        body: { action: args[0] as BulkAction },
      });
      out.table(answer.items, ['id', 'error_code', 'message']);
      const left = answer.metadata.pagination.total - answer.items.length;
      if (left > 0) out.say(`${left} more match: run it again.`);
    },
  });
  callCommand(cli, executions, {
    name: 'purge',
    about: 'delete ended executions with their graphs and events',
    operation: 'deleteExecutions',
    options: [
      ...filterOptions(),
      option('--before <time>', 'made before this time, YYYY-MM-DD hh:mm:ss'),
      number('--keep-last <n>', 'all but the newest'),
    ],
    request: (_args, options) => ({
      query: filtersOf(options),
      body: { to_datetime: options.before, keep_last: options.keepLast },
    }),
    done: (_args, answer) => `${answer.metadata.pagination.total} executions are deleted.`,
  });
}

function startCommand(cli: Cli, executions: Command): void {
  command(cli, executions, {
    name: 'start <workflow>',
    about: 'run a workflow and show its events until it has ended',
    uses: ['startExecution', 'streamEvents'],
    options: [
      required('-d, --deployment <id>', 'deployment'),
      repeated('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them'),
      option('--allow-custom-parameters', 'let undeclared parameters through'),
      option('-f, --force', 'also while another execution runs'),
      option('--queue', 'wait for others instead of being refused'),
      option('--dry-run', 'show what would be done'),
      ...followOptions(),
    ],
    examples: [
      'executions start install -d hello',
      'executions start scale -d web -p scalable_entity_name=pair --detach',
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const execution = await client.call('startExecution', {
        idempotencyKey: newId(),
        body: {
          workflow_id: args[0],
          deployment_id: options.deployment,
          parameters: collectValues(options.parameter),
          allow_custom_parameters: options.allowCustomParameters ?? false,
          force: options.force ?? false,
          queue: options.queue ?? false,
          dry_run: options.dryRun ?? false,
        },
      });
      if (options.detach) return out.done(`Execution ${execution.id} is ${execution.status}.`, execution);
      out.say(`Execution ${execution.id} of ${args[0]} on ${options.deployment}`);
      await followExecution(run, execution.id!, followOf(options));
    },
  });
}

function whyCommand(cli: Cli, executions: Command): void {
  command(cli, executions, {
    name: 'why <id>',
    about: 'what an execution waits for',
    uses: ['explainExecution'],
    isWatched: true,
    run: async ({ args: [executionId], client, out }) => {
      const answer = await client.call('explainExecution', { params: { executionId } });
      if (out.isMachine) return out.record(answer);
      if (answer.waiting_for.length === 0)
        out.say(`Execution ${executionId} is ${answer.status}; it waits for nothing.`);
      for (const reason of answer.waiting_for) {
        out.say(
          `${reason.message} (${reason.kind}, since ${cellText(reason.since)}, until ${cellText(reason.until)})`,
        );
      }
    },
  });
}
