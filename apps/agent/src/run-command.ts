/** The commands of `baton-agent`. What a command needs is loaded when it is chosen: `ctx` starts often. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { nearestName } from '@baton/kernel';
import { complain } from './complain';
import { environment } from './config';
import { AgentFailure, exitCodes } from './exit-codes';
import { type Places, placesOf } from './places';

const USAGE = `baton-agent runs the operations of this host for a Baton manager.

  baton-agent run                          runs the agent until SIGTERM
  baton-agent supervise                    runs it and starts it again whenever it ends (process management: detach)
  baton-agent enrol --token-file FILE      gets a certificate for the token in FILE; without the option the token is read
                                           from BATON_AGENT_TOKEN, else from the standard input
  baton-agent status                       prints what the running agent says of itself; exit code 0: it has a stream
  baton-agent check                        tests whether this program can be the agent of this host
  baton-agent upgrade-apply --program FILE makes FILE the program of this agent at its next start
  baton-agent uninstall --yes              stops the agent and removes its folder
  baton-agent version                      prints the version
  baton-agent ctx ...                      the command ctx of operations

Options: --config FILE (agent.json) or --dir FOLDER (where it lies); without both, the folder is BATON_AGENT_DIR, else that
of the program.`;

type Options = ReturnType<typeof optionsOf>;
const COMMANDS = [
  'run',
  'supervise',
  'enrol',
  'status',
  'check',
  'upgrade-apply',
  'uninstall',
  'version',
  'ctx',
  'run-module',
  'help',
];

/** Runs a command and returns its exit code; null: the process goes on and ends by itself. Failures are said in one line. */
export async function runCommand(args: readonly string[]): Promise<number | null> {
  const [command = 'help', ...rest] = args;
  try {
    if (command === 'ctx')
      return await (require('./commands/ctx') as typeof import('./commands/ctx')).runCtx(rest);
    if (command === 'run-module')
      return (require('./commands/run-module') as typeof import('./commands/run-module')).runModule(rest);
    return await byName(command, rest);
  } catch (error) {
    if (!(error instanceof AgentFailure)) throw error;
    complain(`baton-agent ${command}: ${error.message}\n`);
    return error.exit;
  }
}

async function byName(command: string, rest: readonly string[]): Promise<number> {
  if (command === 'help' || command === '--help') return say(USAGE);
  if (command === 'version' || command === '--version')
    return (require('./commands/version') as typeof import('./commands/version')).showVersion();
  if (!COMMANDS.includes(command)) {
    const near = nearestName(command, COMMANDS);
    throw new AgentFailure(
      exitCodes.usage,
      `no such command${near ? `; did you mean ${near}?` : ''}; see baton-agent help`,
    );
  }
  const options = optionsOf(rest);
  const places = placesFor(options);
  switch (command) {
    case 'run':
      return await (require('./commands/run') as typeof import('./commands/run')).runAgent(places);
    case 'supervise':
      return await (require('./commands/supervise') as typeof import('./commands/supervise')).supervise(
        places,
      );
    case 'enrol':
      return await (require('./commands/enrol') as typeof import('./commands/enrol')).enrolAgent(
        places,
        options['token-file'],
      );
    case 'status':
      return await (require('./commands/status') as typeof import('./commands/status')).showStatus(places);
    case 'check':
      return (require('./commands/check') as typeof import('./commands/check')).check(places);
    case 'upgrade-apply':
      return await (
        require('./commands/upgrade-apply') as typeof import('./commands/upgrade-apply')
      ).applyUpgrade(places, options.program);
    default:
      return await (require('./commands/uninstall') as typeof import('./commands/uninstall')).uninstall(
        places,
        options.yes === true,
      );
  }
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return exitCodes.ok;
}

function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        config: { type: 'string' },
        dir: { type: 'string' },
        'token-file': { type: 'string' },
        program: { type: 'string' },
        yes: { type: 'boolean' },
      },
    }).values;
  } catch (cause) {
    throw new AgentFailure(exitCodes.usage, (cause as Error).message, { cause });
  }
}

function placesFor(options: Options): Places {
  if (options.config !== undefined) return { ...placesOf(dirname(options.config)), config: options.config };
  const dir = options.dir ?? environment.BATON_AGENT_DIR ?? ownDir();
  if (dir === null)
    throw new AgentFailure(exitCodes.usage, 'which agent? say --config FILE, or --dir FOLDER of an agent');
  return placesOf(dir);
}

/** `<folder>/versions/<version>/baton-agent`: the folder. */
function ownDir(): string | null {
  const versions = dirname(dirname(realpathSync(process.execPath)));
  return basename(versions) === 'versions' ? join(versions, '..') : null;
}
