/** Texts of agents: programs on hosts that run the operations of their host. */
import { count, many } from './en-words';

const hosts = (n: number) => many(n, 'host');

export const agentsTexts = {
  agents: {
    title: 'Agents',
    count: (n: number) => many(n, 'agent'),
    search: 'Search by name',
    columns: {
      name: 'Agent',
      state: 'State',
      deployment: 'Deployment',
      work: 'Running',
      seen: 'Last seen',
      certificate: 'Certificate',
      version: 'Version',
    },
    words: {
      revoked: 'Revoked',
      connected: 'Connected',
      away: 'Not connected',
      waiting: 'Waiting to connect',
      nonresponsive: 'Not responding',
      failed: 'Failed',
      upgrading: 'Being upgraded',
      restored: 'Needs a new agent',
      installing: 'Being installed',
      ending: 'Being removed',
      ended: 'Removed',
    },
    /** States of the record, in the filter. */
    states: {
      started: 'Started',
      nonresponsive: 'Not responding',
      failed: 'Failed',
      creating: 'Being installed',
      created: 'Installed',
      starting: 'Starting',
      upgrading: 'Being upgraded',
      restored: 'Restored',
      stopping: 'Being stopped',
      stopped: 'Stopped',
      deleting: 'Being removed',
    },
    methods: {
      remote: 'SSH (remote)',
      init_script: 'user data (init_script)',
      plugin: 'a plugin',
      provided: 'the image (provided)',
    } as Readonly<Record<string, string>>,
    filters: {
      state: 'State',
      method: 'Installed by',
      connection: 'Connection',
      connected: 'Connected',
      away: 'Not connected',
      deployment: 'Deployment, exact id',
    },
    empty: 'No agents in this tenant',
    emptyHint:
      'An agent comes with its host: install a deployment whose blueprint has a node of the type cloudify.nodes.Compute, with an install_method other than none in its agent_config.',
    select: (name: string) => `Select ${name}`,
    selected: (n: number) => `${many(n, 'agent')} selected`,
    selectNone: 'Select none',
    running: (n: number, slots: number) => `${count.format(n)} of ${count.format(slots)}`,
    lines: (waiting: number, dropped: number) =>
      [
        waiting > 0 ? `${many(waiting, 'line')} ${waiting === 1 ? 'waits' : 'wait'}` : '',
        dropped > 0 ? `${many(dropped, 'line')} dropped` : '',
      ]
        .filter(Boolean)
        .join(', '),
    toVersion: (from: string, to: string) => `${from} → ${to}`,
    undone: 'upgrade undone',
    certificate: {
      none: 'none yet',
      soon: (left: string) => `ends in ${left}`,
      expired: 'has ended',
      revoked: 'revoked',
    },

    connection: 'Connection',
    host: 'Host',
    work: 'Work',
    certificateTitle: 'Certificate',
    since: { on: 'Connected since', off: 'Not connected since' },
    lastSeen: 'Last seen',
    method: 'Installed by',
    version: 'Version',
    wanted: 'Changes to version',
    deployment: 'Deployment',
    instance: 'Node instance',
    ip: 'Address',
    hostname: 'Host name',
    system: 'System',
    platform: 'Platform',
    supervisor: 'Kept alive by',
    startedAt: 'Program started',
    created: 'Entered',
    runningNow: 'Operations running now',
    waitingLines: 'Log lines that wait',
    droppedLines: 'Log lines that did not fit',
    serial: 'Serial number',
    expires: 'Valid until',
    revokedAt: 'Revoked',
    upgrade: 'Last upgrade',
    upgradeStates: {
      done: (version: string) => `to ${version}: done`,
      running: (version: string) => `to ${version}: at work`,
      undone: (version: string) => `to ${version}: undone`,
    },
    silent: 'It has told nothing about itself yet.',
    warnings: {
      revoked:
        'The certificate is revoked: the agent cannot connect and runs nothing. A new install script lets its host join again.',
      nonresponsive:
        'The host has been silent for more than 45 s. Operations of the host wait for the agent and then fail, and are tried again. Look at the host, its network, and the log of the agent there.',
      failed: 'The installation failed. The log of the execution says at which step.',
      restored:
        'The record comes from a snapshot. The host has no agent of this manager until new agents are installed.',
      soon: 'The certificate ends soon. Agents renew theirs after two thirds of its time, so this one has not managed to: is it connected, and is the clock of its host right?',
      expired:
        'The certificate has ended: the agent cannot connect. A new install script gives the host a new one.',
      undone: (version: string) => `The upgrade to ${version} was undone.`,
      dropped: (n: number) =>
        `${many(n, 'log line')} did not fit into the journal of the agent while it had no connection. Results of operations are never dropped.`,
    },

    validate: 'Validate',
    install: 'Install new agents',
    installOne: 'Install a new agent',
    script: 'Install script',
    upgradeAction: 'Upgrade',
    upgradeAll: 'Upgrade all',
    revoke: 'Revoke',
    delete: 'Delete',

    upgradeTitle: (n: number) => `Upgrade ${many(n, 'agent')}?`,
    upgradeAllTitle: 'Upgrade all agents of this tenant?',
    upgradeText:
      'Each agent loads the version that this manager serves, tests it, lets its operations end, and changes over; one that does not come back within a minute goes back. A tenth changes at a time, and it stops at the first agent that goes back.',
    upgrading: (n: number, version: string) =>
      n === 0
        ? `No agent has another version than ${version}.`
        : `${many(n, 'agent')} will change to version ${version}.`,
    andMore: (n: number) => `and ${count.format(n)} more`,

    workflowTitle: {
      validate_agents: (n: number) => `Validate the agents of ${hosts(n)}?`,
      install_new_agents: (n: number) => `Install new agents on ${hosts(n)}?`,
    },
    workflowText: {
      validate_agents:
        'The manager looks whether each agent is connected and has given a sign of life in the last seconds. Nothing is changed on the hosts.',
      install_new_agents:
        'An agent that is connected changes to the version of this manager. Elsewhere a new agent is installed over SSH. Where that is not possible, the log of the execution says how to do it by hand.',
    },
    workflowStart: { validate_agents: 'Validate', install_new_agents: 'Install' },
    workflowResults: 'Started executions',
    refused: 'refused',

    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeText:
      'Its connection is cut at once and its certificates are refused for ever. What it runs now can no longer report its outcome. A new install script lets the host join again.',
    deleteTitle: (name: string) => `Delete the record of ${name}?`,
    deleteText:
      'Its certificates are refused from then on, and operations of the host find no agent. The program stays on the host until it is removed there.',

    scriptTitle: (name: string) => `Install script of ${name}`,
    scriptText:
      'The script installs the agent on its host, or repairs one that is there. It holds a token that is good once, for an hour. A script that was made before stops to work.',
    network: 'Network',
    networkHint: 'By which the host reaches the manager, as in agent_config. Left empty: default.',
    scriptMake: 'Make the script',
    scriptRun:
      'Run the command on the host. Where curl does not trust the certificate of the manager, copy the script instead, and run it there as root.',
    scriptCommand: 'Command for the host',
    scriptWhole: 'Script',
    scriptUntil: 'Good until',
    scriptShow: 'Show the script',

    ofHost: 'Agent',
    ofDeployment: (n: number) => many(n, 'agent'),
    notConnected: (n: number) => `${count.format(n)} not connected`,
  },
};
