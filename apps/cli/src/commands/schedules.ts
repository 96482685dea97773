import type { Command } from 'commander';
import { collect } from '../collect';
import { collectValues, gather } from '../key-values';
import { sessionOf } from '../session';

const COLUMNS = [
  'id',
  'deployment_id',
  'workflow_id',
  'enabled',
  'next_occurrence',
  'latest_execution_status',
];

/** `baton schedules ...`: workflows that run at times to come. */
export function scheduleCommands(program: Command): void {
  const schedules = program
    .command('schedules')
    .alias('schedule')
    .description('workflows that run at times to come');
  listCommand(schedules);
  getCommand(schedules);
  createCommand(schedules);
  updateCommand(schedules);
  enableCommands(schedules);
  deleteCommand(schedules);
  occurrencesCommand(schedules);
}

/** A schedule is named by its deployment and its id. */
const place = (id: string, deployment: string) => ({
  params: { schedule_id: id },
  query: { deployment_id: deployment },
});

function listCommand(schedules: Command): void {
  schedules
    .command('list')
    .description('list schedules')
    .option('-d, --deployment <id>', 'only of this deployment')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { _include: COLUMNS.join(','), deployment_id: options.deployment };
      out.table(await collect(client.all('listExecutionSchedules', { query })), COLUMNS);
    });
}

function getCommand(schedules: Command): void {
  schedules
    .command('get <id>')
    .description('show a schedule and its times to come')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      out.record(await client.call('getExecutionSchedule', place(id, options.deployment)));
    });
}

/** Options of when a schedule runs, shared by create and update. */
function timingOptions(command: Command): Command {
  return command
    .option('--since <time>', 'first time, YYYY-MM-DD HH:MM:SS in UTC')
    .option('--until <time>', 'last time')
    .option('--recurrence <text>', 'time between two runs, e.g. "2 weeks"')
    .option('--count <n>', 'number of runs', Number)
    .option('--weekdays <list>', 'e.g. mo,tu; with months or years also 1mo or l-fr')
    .option('--rrule <rule>', 'a rule of RFC 5545 instead of recurrence, count and weekdays')
    .option('--slip <minutes>', 'how late a run may still start', Number)
    .option('--stop-on-fail', 'no further runs after a failed one');
}

function timingBody(options: Record<string, any>) {
  return {
    since: options.since,
    until: options.until,
    recurrence: options.recurrence,
    count: options.count,
    weekdays: options.weekdays?.split(',').map((day: string) => day.trim()),
    rrule: options.rrule,
    slip: options.slip,
    stop_on_fail: options.stopOnFail,
  };
}

function createCommand(schedules: Command): void {
  timingOptions(schedules.command('create <id> <workflow>'))
    .description('run a workflow at times to come')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .option('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them; repeatable', gather, [])
    .option('--allow-custom-parameters', 'let undeclared parameters through')
    .option('-f, --force', 'also while another execution runs')
    .option('--dry-run', 'show what would be done')
    .option('--disabled', 'make it, but let it rest')
    .action(async (id: string, workflow: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const schedule = await client.call('createExecutionSchedule', {
        ...place(id, options.deployment),
        body: {
          workflow_id: workflow,
          parameters: collectValues(options.parameter),
          execution_arguments: {
            allow_custom_parameters: options.allowCustomParameters ?? false,
            force: options.force ?? false,
            dry_run: options.dryRun ?? false,
          },
          enabled: options.disabled !== true,
          ...timingBody(options),
        },
      });
      out.done(`Schedule ${id} runs ${workflow} next at ${schedule.next_occurrence ?? 'no time'}.`, schedule);
    });
}

function updateCommand(schedules: Command): void {
  timingOptions(schedules.command('update <id>'))
    .description('change when a schedule runs')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .action(async (id: string, options, command: Command) =>
      change(id, options, command, timingBody(options)),
    );
}

function enableCommands(schedules: Command): void {
  for (const [name, enabled, text] of [
    ['enable', true, 'let a schedule run again'],
    ['disable', false, 'let a schedule rest'],
  ] as const) {
    schedules
      .command(`${name} <id>`)
      .description(text)
      .requiredOption('-d, --deployment <id>', 'deployment')
      .action(async (id: string, options, command: Command) => change(id, options, command, { enabled }));
  }
}

async function change(
  id: string,
  options: Record<string, any>,
  command: Command,
  body: object,
): Promise<void> {
  const { client, out } = sessionOf(command);
  const schedule = await client.call('updateExecutionSchedule', {
    ...place(id, options.deployment),
    body: body,
  });
  const next = schedule.enabled ? `runs next at ${schedule.next_occurrence ?? 'no time'}` : 'rests';
  out.done(`Schedule ${id} ${next}.`, schedule);
}

function deleteCommand(schedules: Command): void {
  schedules
    .command('delete <id>')
    .description('delete a schedule; executions that it started stay')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('deleteExecutionSchedule', place(id, options.deployment));
      out.done(`Schedule ${id} is deleted.`, { id });
    });
}

function occurrencesCommand(schedules: Command): void {
  schedules
    .command('occurrences <id>')
    .description('what became of its past times: fired, refused or skipped, and why')
    .requiredOption('-d, --deployment <id>', 'deployment')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const { items } = await client.call('listScheduleOccurrences', place(id, options.deployment));
      out.table(items, ['occurrence', 'outcome', 'reason', 'execution_id']);
    });
}
