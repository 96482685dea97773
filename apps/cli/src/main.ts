import { Command, CommanderError } from 'commander';
import { blueprintCommands } from './commands/blueprints';
import { deploymentCommands } from './commands/deployments';
import { doctorCommand } from './commands/doctor';
import { eventCommands } from './commands/events';
import { executionCommands } from './commands/executions';
import { groupCommands } from './commands/groups';
import { nodeCommands } from './commands/nodes';
import { profileCommands, statusCommands } from './commands/profiles';
import { scheduleCommands } from './commands/schedules';
import { secretCommands } from './commands/secrets';
import { snapshotCommands } from './commands/snapshots';
import { tenantCommands } from './commands/tenants';
import { workerCommands } from './commands/workers';
import { CommandFailure, errorJson, errorText } from './failure';

/** Exit codes: 0 done, 1 failed or refused, 2 not ended in time or nothing to do, 64 wrong usage. */
const USAGE_EXIT_CODE = 64;

function buildProgram(): Command {
  const program = new Command('baton')
    .description('commands for a Baton manager')
    .option('--json', 'print exactly one JSON document')
    .option('--profile <name>', 'profile to use')
    .option('--url <url>', 'address of the manager (BATON_URL)')
    .option('-U, --username <name>', 'user name (BATON_USERNAME)')
    .option('-P, --password <password>', 'password (BATON_PASSWORD)')
    .option('--token <token>', 'token instead of a password (BATON_TOKEN)')
    .option('-t, --tenant <name>', 'tenant (BATON_TENANT)')
    .showSuggestionAfterError()
    .exitOverride();
  profileCommands(program);
  statusCommands(program);
  blueprintCommands(program);
  deploymentCommands(program);
  executionCommands(program);
  groupCommands(program);
  scheduleCommands(program);
  eventCommands(program);
  doctorCommand(program);
  nodeCommands(program);
  secretCommands(program);
  snapshotCommands(program);
  tenantCommands(program);
  workerCommands(program);
  for (const command of program.commands)
    for (const sub of [command, ...command.commands]) sub.exitOverride();
  return program;
}

async function main(argv: readonly string[]): Promise<void> {
  const program = buildProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = failed(error, argv.includes('--json'));
  }
}

function failed(error: unknown, isJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  const code = error instanceof CommandFailure ? error.exitCode : 1;
  if (isJson) process.stdout.write(`${JSON.stringify({ error: errorJson(error) }, null, 2)}\n`);
  else process.stderr.write(`baton: ${errorText(error)}\n`);
  return code;
}

void main(process.argv);
