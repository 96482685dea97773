import { randomBytes } from 'node:crypto';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { type CommandMode, playbookArguments } from './arguments';
import {
  type Counts,
  eventOf,
  type Level,
  linesOf,
  type PlaybookEvent,
  plain,
  type TaskResult,
} from './events';
import type { Workspace } from './workspace';

/** What a run of ansible-playbook did. */
export interface PlaybookRun {
  exitCode: number;
  /** By host. Empty: it ended before its end was told. */
  hosts: Record<string, Counts>;
  changed: TaskResult[];
  failed: TaskResult[];
  /** The last lines that were no events. */
  said: string;
}

/** Lines of one run that come into the log; later ones are only counted. */
const MOST_LINES = 5_000;
/** Results that are kept of each kind. */
const MOST_RESULTS = 1_000;
const SAID_LINES = 20;
const SAID_CHARACTERS = 2_000;

/** All exit codes are told by the result, and not by an error. */
const ANY_CODE = Object.fromEntries(Array.from({ length: 256 }, (_, code) => [code, 'ok' as const]));

/**
 * Runs a playbook and tells its tasks in the log while they end.
 * @throws RetryableError when the operation is stopped, or Ansible is killed
 */
export async function runPlaybook(
  scope: TaskScope,
  settings: Settings,
  workspace: Workspace,
  mode: CommandMode,
): Promise<PlaybookRun> {
  const { args, unknown } = playbookArguments(settings, workspace, mode);
  for (const name of unknown)
    scope.log.debug(`options_config: ansible-playbook has no option ${name}; it is left out`);
  return await tellRun(scope, workspace, args, settings.log_stdout);
}

/** Runs ansible-playbook with these arguments. */
export async function tellRun(
  scope: TaskScope,
  { programs, folder, env }: Pick<Workspace, 'programs' | 'folder' | 'env'>,
  args: readonly string[],
  isTold: boolean,
): Promise<PlaybookRun> {
  const prefix = `baton-${randomBytes(8).toString('hex')} `;
  const run: PlaybookRun = { exitCode: 0, hosts: {}, changed: [], failed: [], said: '' };
  const tell = teller(scope, isTold);
  const said: string[] = [];
  const { file, before } = programs.playbook;
  const { exitCode } = await scope.exec(file, [...before, ...args], {
    cwd: folder,
    env: { ...env, BATON_EVENTS_PREFIX: prefix },
    exitCodes: ANY_CODE,
    onLine: (line, stream) => {
      const event = stream === 'stdout' ? eventOf(line, prefix) : null;
      if (event !== null) {
        keep(run, event);
        for (const { level, text } of linesOf(event)) tell(level, text);
      } else if (line.trim() !== '') {
        said.push(plain(line));
        if (said.length > SAID_LINES) said.shift();
        tell(levelOfLine(line, stream), plain(line).slice(0, SAID_CHARACTERS));
      }
    },
  });
  return { ...run, exitCode, said: said.join('\n').slice(-SAID_CHARACTERS) };
}

function keep(run: PlaybookRun, event: PlaybookEvent): void {
  if (event.e === 'stats') Object.assign(run.hosts, event.hosts);
  if (event.e !== 'result') return;
  const list = event.s === 'changed' ? run.changed : run.failed;
  const isKept =
    event.s === 'changed' || event.s === 'unreachable' || (event.s === 'failed' && !event.ignored);
  if (isKept && list.length < MOST_RESULTS) list.push(event);
}

/** Writes lines to the log, up to a limit. Without `log_stdout` only what went wrong. */
function teller({ log }: TaskScope, isTold: boolean): (level: Level, text: string) => void {
  let lines = 0;
  return (level, text) => {
    if (!isTold && (level === 'info' || level === 'debug')) return;
    if (++lines <= MOST_LINES) log[level](text);
    else if (lines === MOST_LINES + 1)
      log.warning(`Ansible goes on; after ${MOST_LINES} lines nothing more is shown`);
  };
}

function levelOfLine(line: string, stream: 'stdout' | 'stderr'): Level {
  if (stream === 'stdout') return 'debug';
  if (/^(ERROR|fatal)/i.test(line)) return 'error';
  return /^\[(WARNING|ERROR)/.test(line) ? 'warning' : 'debug';
}
