/** Agents: what they are, their install scripts, certificates and versions. Their workflows are in agent-workflows.ts. */
import { chmodSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { collectValues } from '../key-values';
import { type Cli, command, noun, option, repeated } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { pemFile } from '../pem-file';
import { AGENT_FILTERS, agentWorkflowCommands } from './agent-workflows';

const AGENT = {
  columns: ['id', 'deployment', 'node', 'state', 'ip', 'install_method', 'version', 'system'],
  wide: ['host_id', 'tenant_name'],
};
const CONNECTION = {
  columns: ['name', 'deployment_id', 'state', 'is_connected', 'since', 'last_seen', 'version'],
  wide: ['node_instance_id', 'install_method', 'wanted_version', 'tenant_name'],
  name: 'name',
};
const byName = (name: string) => ({ params: { name } });

export function agentCommands(cli: Cli): void {
  const agents = noun(cli, 'agents', {
    alias: 'agent',
    about: 'agents: programs on hosts that run the operations of their host',
    examples: [
      'agents list --deployment-id web',
      'agents show vm_a1b2c3',
      'agents validate --deployment-id web',
      'agents upgrade --all',
    ],
  });
  readCommands(cli, agents);
  agentWorkflowCommands(cli, agents);
  scriptCommand(cli, agents);
  upgradeCommand(cli, agents);
  callCommand(cli, agents, {
    name: 'revoke <name>',
    about: 'refuse every certificate of an agent from now on, and cut its connection',
    operation: 'revokeAgent',
    request: ([name]) => byName(name),
    done: ([name]) =>
      `Agent ${name} is revoked: it runs nothing any more. A new install script lets its host join again: baton agents script ${name}`,
  });
  deleteCommand(cli, agents, {
    operation: 'deleteAgent',
    param: 'name',
    argument: '<name>',
    about: 'delete the record of an agent; its certificates are refused from then on',
    kind: 'Agent',
  });
  rotateCommand(cli, agents);
}

function readCommands(cli: Cli, agents: Command): void {
  listCommand(cli, agents, {
    ...AGENT,
    operation: 'listAgents',
    about: 'list agents',
    fields: AGENT_FILTERS,
    examples: ['agents list --deployment-id web --install-methods remote', 'agents list --all-tenants'],
  });
  listCommand(cli, agents, {
    ...CONNECTION,
    operation: 'listAgentConnections',
    command: 'connections',
    about: 'list the connections of agents: since when, last seen, version',
    examples: ['agents connections --where is_connected=false', 'agents connections --watch'],
  });
  getCommand(cli, agents, {
    ...AGENT,
    operation: 'getAgent',
    param: 'name',
    argument: '<name>',
    about: 'show the record of an agent',
    more: ['name', 'node_instance_id', 'updated_at'],
  });
  command(cli, agents, {
    name: 'show <name>',
    about: 'show an agent with its connection, certificate, and what it says of itself',
    uses: ['getAgent', 'getAgentConnection'],
    isWatched: true,
    run: async ({ args: [name], client, out }) => {
      const record = await client.call('getAgent', byName(name));
      const connection = await client.call('getAgentConnection', byName(name));
      if (out.isMachine) return out.record({ ...record, ...connection }, undefined, { name: 'name' });
      out.record(shown(record, connection));
    },
  });
}

/** What people see of an agent: nested parts have lines of their own. */
function shown(record: object, connection: Record<string, unknown>): object {
  const { certificate, about, ...plain } = connection;
  const { ip, node, system, created_at, created_by } = record as Record<string, unknown>;
  const { serial, expires_at, revoked_at } = (certificate ?? {}) as Record<string, unknown>;
  const { upgrade, ...said } = (about ?? {}) as Record<string, unknown>;
  const { state, reason } = (upgrade ?? {}) as Record<string, unknown>;
  return {
    ...plain,
    node,
    ip,
    system,
    created_at,
    created_by,
    certificate_serial: serial,
    certificate_expires_at: expires_at,
    certificate_revoked_at: revoked_at,
    ...Object.fromEntries(
      ['hostname', 'platform', 'slots', 'running', 'waitingLines', 'droppedLines'].map((key) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        said[key],
      ]),
    ),
    last_upgrade: state,
    last_upgrade_reason: reason,
  };
}

function scriptCommand(cli: Cli, agents: Command): void {
  command(cli, agents, {
    name: 'script <name>',
    about:
      'print the script that installs an agent on its host; it holds a token that is good once, for an hour',
    uses: ['enrolAgent'],
    options: [
      option('--network <name>', 'network by which the host reaches the manager'),
      repeated(
        '-p, --option <name=value|file>',
        'choice of the script, by its name in agent_config, such as user=app',
      ),
      option('--output-path <file>', 'write it to a file that only you can read'),
      option('--link', 'print the address from which the host can download it instead'),
    ],
    examples: [
      'agents script vm_a1b2c3 | ssh admin@10.0.0.7 sudo sh',
      'agents script vm_a1b2c3 --output-path install.sh',
      'agents script vm_a1b2c3 --link',
    ],
    run: async ({ args: [name], options, client, out, io }) => {
      const answer = await client.call('enrolAgent', {
        ...byName(name),
        body: {
          ...(options.network ? { network: options.network } : {}),
          options: collectValues(options.option),
        },
      });
      if (options.outputPath !== undefined) {
        writeFileSync(options.outputPath, answer.script, { mode: 0o600 });
        // The mode counts for new files only.
        chmodSync(options.outputPath, 0o600);
        const result = { name, file: options.outputPath, expires_at: answer.expires_at };
        return out.done(
          `Written to ${options.outputPath}. Run it on the host as root before ${answer.expires_at}; it is good once.`,
          result,
        );
      }
      if (out.isMachine) return out.record(answer, undefined, { name: 'script_url' });
      // A script is for a shell: it is written as it is, with nothing around it.
      io.out(options.link ? `${answer.script_url}\n` : answer.script);
    },
  });
}

function upgradeCommand(cli: Cli, agents: Command): void {
  command(cli, agents, {
    name: 'upgrade [names...]',
    about:
      'change agents to the version that the manager serves, a tenth at a time; it stops when one goes back',
    uses: ['upgradeAgents'],
    options: [option('--all', 'all agents of the tenant that have another version')],
    examples: ['agents upgrade vm_a1b2c3', 'agents upgrade --all'],
    run: async ({ args, options, client, out }) => {
      const names = args.filter((name): name is string => typeof name === 'string');
      if (names.length > 0 === Boolean(options.all))
        throw new UsageFailure('give names of agents, or --all for every agent of the tenant');
      const answer = await client.call('upgradeAgents', { body: { names } });
      const { number_of_agents: count, version } = answer;
      const text =
        count === 0
          ? `No agent has another version than ${version}.`
          : `${count} ${count === 1 ? 'agent changes' : 'agents change'} to version ${version}. To see how far they are: baton agents connections -o wide`;
      out.done(text, answer);
    },
  });
}

function rotateCommand(cli: Cli, agents: Command): void {
  callCommand(cli, agents, {
    name: 'rotate-ca',
    about:
      'make a new authority for the certificates of agents; both are trusted until every agent has a new certificate (administrators)',
    operation: 'replaceAgentCertificates',
    options: [
      option('--manager-ca-cert <file>', 'trust this authority (PEM) as well, instead of making a new one'),
    ],
    request: (_args, { managerCaCert }) => ({
      body: {
        bundle: true,
        ...(managerCaCert === undefined ? {} : { manager_ca_cert: pemFile(managerCaCert) }),
      },
    }),
    done: (_args, { number_of_updated_agents: count }) =>
      count === 0
        ? 'The new authority counts from now on. There is no agent that must change.'
        : `${count} ${count === 1 ? 'agent renews its certificate' : 'agents renew their certificates'} as soon as they are connected.`,
  });
}
