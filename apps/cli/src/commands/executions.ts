import type { Operations } from '@baton/client';
import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { collect } from '../collect';
import { CommandFailure } from '../failure';
import { followExecution } from '../follow';
import { collectValues, gather } from '../key-values';
import { cellText } from '../output';
import { sessionOf } from '../session';
import { graphCommand } from './execution-graph';

const COLUMNS = [
  'id',
  'workflow_id',
  'deployment_id',
  'status',
  'finished_operations',
  'total_operations',
  'created_at',
  'ended_at',
];

export function executionCommands(program: Command): void {
  const executions = program
    .command('executions')
    .alias('execution')
    .description('workflows that run or ran');
  startCommand(executions);
  listCommand(executions);
  getCommand(executions);
  followCommand(executions);
  actionCommands(executions);
  bulkCommands(executions);
  whyCommand(executions);
  graphCommand(executions);
}

function listCommand(executions: Command): void {
  executions
    .command('list')
    .description('list executions, newest last')
    .option('-d, --deployment <id>', 'only of this deployment')
    .option('--status <status>', 'only in this status, repeatable', gather, [])
    .option('--system', 'system workflows as well')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = {
        _include: COLUMNS.join(','),
        deployment_id: options.deployment,
        status: options.status,
        _include_system_workflows: options.system,
      };
      out.table(await collect(client.all('listExecutions', { query })), COLUMNS);
    });
}

function getCommand(executions: Command): void {
  executions
    .command('get <id>')
    .description('show an execution')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const execution = await client.call('getExecution', { params: { executionId: id } });
      out.record(execution as object, [
        ...COLUMNS,
        'error',
        'parameters',
        'created_by',
        'started_at',
        'scheduled_for',
      ]);
    });
}

function followCommand(executions: Command): void {
  executions
    .command('follow <id>')
    .description('show the events of an execution until it has ended')
    .option('-v, --verbose', 'every event')
    .option('--timeout <seconds>', 'stop following after this time, 0 = never', Number, 0)
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      await followExecution(client, out, id, {
        isVerbose: options.verbose ?? false,
        timeoutS: options.timeout,
      });
    });
}

function actionCommands(executions: Command): void {
  for (const [name, action, text] of [
    ['cancel', 'cancel', 'let nothing new start, wait for what runs'],
    ['force-cancel', 'force-cancel', 'end now, stop running operations'],
    ['kill', 'kill', 'end now, kill running operations'],
    ['resume', 'resume', 'go on with a failed or cancelled execution'],
  ] as const) {
    executions
      .command(`${name} <id>`)
      .description(text)
      .action(async (id: string, _options, command: Command) => {
        const { client, out } = sessionOf(command);
        const execution = await client.call('actOnExecution', {
          params: { executionId: id },
          body: { action },
        });
        out.done(`Execution ${id} is ${execution.status}.`, execution);
      });
  }
}

/** Filters of what is done to many executions at once. */
function filterOptions(command: Command): Command {
  return command
    .option('-d, --deployment <id>', 'of this deployment, repeatable', gather, [])
    .option('-b, --blueprint <id>', 'of deployments of this blueprint, repeatable', gather, [])
    .option('-w, --workflow <name>', 'of this workflow, repeatable', gather, [])
    .option('--status <status>', 'in this status, repeatable', gather, []);
}

function filtersOf(options: Record<string, string[]>): Record<string, string[]> {
  const { deployment, blueprint, workflow, status } = options;
  const filters = { deployment_id: deployment, blueprint_id: blueprint, workflow_id: workflow, status };
  return Object.fromEntries(
    Object.entries(filters).filter((entry): entry is [string, string[]] => (entry[1] ?? []).length > 0),
  );
}

type BulkAction = Operations['actOnExecutions']['body']['action'];

function bulkCommands(executions: Command): void {
  filterOptions(executions.command('bulk <action>'))
    .description(
      'cancel, force-cancel, kill, resume or force-resume every execution that the filters match, 500 at once',
    )
    .action(async (action: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const answer = await client.call('actOnExecutions', {
        query: filtersOf(options),
        body: { action: action as BulkAction },
      });
      out.table(answer.items, ['id', 'error_code', 'message']);
      const left = answer.metadata.pagination.total - answer.items.length;
      if (left > 0) out.say(`${left} more match: run it again.`);
    });
  filterOptions(executions.command('purge'))
    .description('delete ended executions with their graphs and events')
    .option('--before <time>', 'made before this time, YYYY-MM-DD hh:mm:ss')
    .option('--keep-last <n>', 'all but the newest', Number)
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const answer = await client.call('deleteExecutions', {
        query: filtersOf(options),
        body: { to_datetime: options.before, keep_last: options.keepLast },
      });
      out.done(`${answer.metadata.pagination.total} executions are deleted.`, answer);
    });
}

function startCommand(executions: Command): void {
  executions
    .command('start <workflow>')
    .description('run a workflow and show its events until it has ended')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .option('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them; repeatable', gather, [])
    .option('--allow-custom-parameters', 'let undeclared parameters through')
    .option('-f, --force', 'also while another execution runs')
    .option('--queue', 'wait for others instead of being refused')
    .option('--dry-run', 'show what would be done')
    .option('--detach', 'do not wait for the end')
    .option('-v, --verbose', 'every event')
    .option('--timeout <seconds>', 'stop following after this time, 0 = never', Number, 0)
    .action(async (workflow: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const execution = await client.call('startExecution', {
        idempotencyKey: newId(),
        body: {
          workflow_id: workflow,
          deployment_id: options.deployment,
          parameters: collectValues(options.parameter),
          allow_custom_parameters: options.allowCustomParameters ?? false,
          force: options.force ?? false,
          queue: options.queue ?? false,
          dry_run: options.dryRun ?? false,
        },
      });
      if (options.detach) {
        out.done(`Execution ${execution.id} is ${execution.status}.`, execution);
        return;
      }
      out.say(`Execution ${execution.id} of ${workflow} on ${options.deployment}`);
      await followExecution(client, out, execution.id!, {
        isVerbose: options.verbose ?? false,
        timeoutS: options.timeout,
      });
    });
}

function whyCommand(executions: Command): void {
  executions
    .command('why <id>')
    .description('what an execution waits for')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const answer = await client.call('explainExecution', {
        params: { executionId: id },
      });
      if (out.isJson) return out.record(answer);
      if (answer.waiting_for.length === 0) {
        throw new CommandFailure(`execution ${id} is ${answer.status}; it waits for nothing`, 0);
      }
      for (const reason of answer.waiting_for) {
        out.say(
          `${reason.message} (${reason.kind}, since ${cellText(reason.since)}, until ${cellText(reason.until)})`,
        );
      }
    });
}
