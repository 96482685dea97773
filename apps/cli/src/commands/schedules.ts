import { isoInstant, systemClock } from '@baton/kernel';
import type { Command } from 'commander';
import { collectValues } from '../key-values';
import {
  type Cli,
  command,
  noun,
  number,
  type Options,
  option,
  type Run,
  repeated,
  required,
} from '../layer/define';
import { callCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['id', 'deployment_id', 'workflow_id', 'enabled', 'next_occurrence', 'latest_execution_status'],
  wide: ['since', 'until', 'rule', 'slip', 'stop_on_fail', 'created_by', 'tenant_name'],
};

/** `baton schedules ...`: workflows that run at scheduled times. */
export function scheduleCommands(cli: Cli): void {
  const schedules = noun(cli, 'schedules', {
    alias: 'schedule',
    about: 'workflows that run at times to come',
    examples: [
      'schedules create backup snapshot -d db --since now --recurrence "1 day"',
      'schedules create weekly check -d web --since "2026-12-01 06:00:00" --recurrence "1 week"',
    ],
  });
  listCommand(cli, schedules, {
    ...SHOWN,
    operation: 'listExecutionSchedules',
    about: 'list schedules',
    fields: [
      {
        flags: '-d, --deployment <id>',
        about: 'only of this deployment',
        field: 'deployment_id',
        key: 'deployment',
      },
    ],
  });
  callCommand(cli, schedules, {
    name: 'get <id>',
    about: 'show a schedule and its times to come',
    operation: 'getExecutionSchedule',
    options: [ofDeployment()],
    request: ([id], { deployment }) => place(id, deployment),
    isWatched: true,
  });
  createCommand(cli, schedules);
  updateCommands(cli, schedules);
  callCommand(cli, schedules, {
    name: 'delete <id>',
    about: 'delete a schedule; executions that it started stay',
    operation: 'deleteExecutionSchedule',
    options: [ofDeployment()],
    request: ([id], { deployment }) => place(id, deployment),
    done: ([id]) => `Schedule ${id} is deleted.`,
  });
  command(cli, schedules, {
    name: 'occurrences <id>',
    about: 'what became of its past times: fired, refused or skipped, and why',
    uses: ['listScheduleOccurrences'],
    options: [ofDeployment()],
    run: async ({ args: [id], options, client, out }) => {
      const { items } = await client.call('listScheduleOccurrences', place(id, options.deployment));
      out.table(items, ['occurrence', 'outcome', 'reason', 'execution_id']);
    },
  });
}

const ofDeployment = () => required('-d, --deployment <id>', 'deployment');

/** A schedule is identified by its deployment and its id. */
const place = (id: string, deployment: string) => ({
  params: { schedule_id: id },
  query: { deployment_id: deployment },
});

/** Timing options of a schedule, shared by create and update. */
const timingOptions = () => [
  option('--since <time>', 'first time, YYYY-MM-DD HH:MM:SS in UTC, or now'),
  option('--until <time>', 'last time'),
  option('--recurrence <text>', 'time between two runs, e.g. "2 weeks"'),
  number('--count <n>', 'number of runs'),
  option('--weekdays <list>', 'e.g. mo,tu; with months or years also 1mo or l-fr'),
  option('--rrule <rule>', 'a rule of RFC 5545 instead of recurrence, count and weekdays'),
  number('--slip <minutes>', 'how late a run may still start'),
  option('--stop-on-fail', 'no further runs after a failed one'),
];

/** Time that a schedule gets to be stored before its first time, so that "now" is not over when it is. */
const NOW_MARGIN_MS = 1_000;

/** Returns a time of the API for the text of --since. `now` becomes the next second but one. */
export function sinceText(text: string | undefined, nowMs: number): string | undefined {
  if (text !== 'now') return text;
  const second = Math.ceil((nowMs + NOW_MARGIN_MS) / 1000) * 1000;
  return isoInstant(second).slice(0, 19).replace('T', ' ');
}

function timingBody(options: Options, isNew: boolean) {
  return {
    since: sinceText(
      options.since ?? (isNew && options.rrule === undefined ? 'now' : undefined),
      systemClock.now(),
    ),
    until: options.until,
    recurrence: options.recurrence,
    count: options.count,
    weekdays: options.weekdays?.split(',').map((day: string) => day.trim()),
    rrule: options.rrule,
    slip: options.slip,
    stop_on_fail: options.stopOnFail,
  };
}

function createCommand(cli: Cli, schedules: Command): void {
  callCommand(cli, schedules, {
    name: 'create <id> <workflow>',
    about: 'run a workflow at times to come; without --since the first time is now',
    operation: 'createExecutionSchedule',
    options: [
      ofDeployment(),
      ...timingOptions(),
      repeated('-p, --parameter <name=value|file>', 'parameter, or a YAML file of them'),
      option('--allow-custom-parameters', 'let undeclared parameters through'),
      option('-f, --force', 'also while another execution runs'),
      option('--dry-run', 'show what would be done'),
      option('--disabled', 'make it, but let it rest'),
    ],
    request: ([id, workflow], options) => ({
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
        ...timingBody(options, true),
      },
    }),
    done: ([id, workflow], schedule) =>
      `Schedule ${id} runs ${workflow} next at ${schedule.next_occurrence ?? 'no time'}.`,
  });
}

function updateCommands(cli: Cli, schedules: Command): void {
  command(cli, schedules, {
    name: 'update <id>',
    about: 'change when a schedule runs, or which workflow',
    uses: ['updateExecutionSchedule'],
    options: [ofDeployment(), ...timingOptions(), option('--workflow <name>', 'workflow')],
    run: (run) => change(run, { ...timingBody(run.options, false), workflow_id: run.options.workflow }),
  });
  for (const [name, enabled, about] of [
    ['enable', true, 'let a schedule run again'],
    ['disable', false, 'let a schedule rest'],
  ] as const) {
    command(cli, schedules, {
      name: `${name} <id>`,
      about,
      uses: ['updateExecutionSchedule'],
      options: [ofDeployment()],
      run: (run) => change(run, { enabled }),
    });
  }
}

async function change(
  { args: [id], options, client, out }: Run<'updateExecutionSchedule'>,
  body: object,
): Promise<void> {
  const schedule = await client.call('updateExecutionSchedule', { ...place(id, options.deployment), body });
  const next = schedule.enabled ? `runs next at ${schedule.next_occurrence ?? 'no time'}` : 'rests';
  out.done(`Schedule ${id} ${next}.`, schedule);
}
