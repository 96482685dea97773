import { Help, Option } from 'commander';
import packageJson from '../package.json';
import type { CliIo } from './cli-io';
import { accessCommands } from './commands/access';
import { agentCommands } from './commands/agents';
import { auditCommands } from './commands/audit';
import { blueprintCommands } from './commands/blueprints';
import { bundleCommands } from './commands/bundles';
import { clusterCommands } from './commands/cluster';
import { completionCommand } from './commands/completion';
import { deploymentCommands } from './commands/deployments';
import { doctorCommand } from './commands/doctor';
import { eventCommands } from './commands/events';
import { executionCommands } from './commands/executions';
import { fileCommands } from './commands/files';
import { filterCommands } from './commands/filters';
import { groupCommands } from './commands/groups';
import { identityProviderCommands } from './commands/identity-providers';
import { importCommands } from './commands/imports';
import { labelCommands } from './commands/labels';
import { loginCommands } from './commands/login';
import { managerCommands } from './commands/manager';
import { modificationCommands } from './commands/modifications';
import { nodeCommands } from './commands/nodes';
import { pluginKeyCommands } from './commands/plugin-keys';
import { pluginCommands } from './commands/plugins';
import { profileCommands } from './commands/profiles';
import { scheduleCommands } from './commands/schedules';
import { searchCommands } from './commands/searches';
import { secretCommands } from './commands/secrets';
import { serviceAccountCommands } from './commands/service-accounts';
import { siteCommands } from './commands/sites';
import { snapshotCommands } from './commands/snapshots';
import { statusCommands } from './commands/status';
import { tenantCommands } from './commands/tenants';
import { triggerCommands } from './commands/triggers';
import { userGroupCommands } from './commands/user-groups';
import { userCommands } from './commands/users';
import { webhookCommands } from './commands/webhooks';
import { type Cli, createCli } from './layer/define';
import { formats } from './output';

/** All kinds of objects, in the order of --help. A new kind is one more line here. */
const KINDS = [
  statusCommands,
  loginCommands,
  profileCommands,
  blueprintCommands,
  pluginCommands,
  pluginKeyCommands,
  deploymentCommands,
  executionCommands,
  groupCommands,
  scheduleCommands,
  webhookCommands,
  triggerCommands,
  eventCommands,
  nodeCommands,
  modificationCommands,
  searchCommands,
  filterCommands,
  labelCommands,
  siteCommands,
  secretCommands,
  fileCommands,
  tenantCommands,
  userCommands,
  userGroupCommands,
  identityProviderCommands,
  serviceAccountCommands,
  accessCommands,
  auditCommands,
  managerCommands,
  clusterCommands,
  agentCommands,
  snapshotCommands,
  bundleCommands,
  importCommands,
  doctorCommand,
  completionCommand,
];

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 manager not reached,
6 execution failed, 7 a wait ended first, 130 Ctrl-C
`;

/** Builds the program with all commands. It speaks to no manager before a command runs. */
export function buildProgram(io: CliIo): Cli {
  const cli = createCli(io);
  cli.program
    .description('commands for a Baton manager')
    .version(packageJson.version, '--version', 'version of this program')
    .addOption(new Option('-o, --output <format>', 'form of the output').choices(formats))
    .option('--json', 'the same as -o json: one document with all fields')
    .option('--profile <name>', 'profile to use')
    .option('--url <url>', 'address of the manager (BATON_URL)')
    .option('-U, --username <name>', 'user name (BATON_USERNAME)')
    .option('-P, --password <password>', 'password (BATON_PASSWORD)')
    .option('--token <token>', 'token instead of a password (BATON_TOKEN)')
    .option('-t, --tenant <name>', 'tenant (BATON_TENANT)')
    .addHelpText('after', EXIT_CODES)
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ optionDescription: describeOption })
    .showSuggestionAfterError()
    .exitOverride();
  for (const add of KINDS) add(cli);
  return cli;
}

/** A repeatable option begins with an empty list, which says nothing to people. */
function describeOption(this: Help, option: Option): string {
  return Help.prototype.optionDescription.call(this, option).replace(/ ?\(?default: \[\]\)?/, '');
}
