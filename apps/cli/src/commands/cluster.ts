import { collectTexts } from '../key-values';
import { type Cli, command, noun, option, repeated, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const MANAGER = {
  columns: ['hostname', 'private_ip', 'public_ip', 'version', 'edition', 'last_seen'],
  wide: ['id', 'distribution', 'distro_release', 'networks'],
  name: 'hostname',
};
const WORKER = [
  'id',
  'hostname',
  'version',
  'places',
  'held',
  'isolation',
  'is_alive',
  'last_seen',
  'revoked_at',
];

/** Nodes of the cluster, its broker and database, and workers. */
export function clusterCommands(cli: Cli): void {
  const cluster = noun(cli, 'cluster', {
    about: 'the cluster: its status, broker and database',
    examples: ['cluster status'],
  });
  command(cli, cluster, {
    name: 'status',
    about: 'show the status of the cluster',
    uses: ['getClusterStatus'],
    isWatched: true,
    run: async ({ client, out }) => {
      const status = await client.call('getClusterStatus', {});
      if (out.isMachine) out.record(status);
      else {
        const rows = Object.entries(status.services).map(([service, { status: state, nodes }]) => ({
          service,
          status: state,
          nodes: Object.keys(nodes).length,
        }));
        out.table(rows, ['service', 'status', 'nodes']);
        out.say(`cluster: ${status.status}`);
      }
      return status.status === 'OK' ? 0 : 1;
    },
  });
  listCommand(cli, cluster, {
    columns: ['name', 'host', 'port', 'is_external'],
    wide: ['management_host', 'username', 'networks'],
    name: 'name',
    operation: 'listBrokers',
    command: 'brokers',
    about: 'list the message brokers',
  });
  listCommand(cli, cluster, {
    columns: ['name', 'host', 'is_external'],
    name: 'name',
    operation: 'listDbNodes',
    command: 'db-nodes',
    about: 'list the database nodes',
  });
  managerNodes(cli);
  workerCommands(cli);
}

function managerNodes(cli: Cli): void {
  const managers = noun(cli, 'managers', {
    alias: 'manager',
    about: 'nodes of the cluster',
    examples: ['managers list -o wide'],
  });
  listCommand(cli, managers, { ...MANAGER, operation: 'listManagers', about: 'list nodes' });
  getCommand(cli, managers, {
    ...MANAGER,
    operation: 'getManager',
    param: 'hostname',
    argument: '<hostname>',
    about: 'show a node',
  });
  callCommand(cli, managers, {
    name: 'add <hostname>',
    about: 'enter a node; nodes that run enter themselves',
    operation: 'addManager',
    options: [
      required('--private-ip <ip>', 'address inside of the cluster'),
      required('--public-ip <ip>', 'address for users'),
      required('--node-version <version>', 'its version'),
      option('--edition <edition>', 'edition', 'premium'),
      option('--distribution <name>', 'operating system', 'linux'),
      option('--distro-release <name>', 'its release', 'unknown'),
      repeated('--network <name=ip>', 'address in a network'),
    ],
    request: ([hostname], o) => ({
      body: {
        hostname,
        private_ip: o.privateIp,
        public_ip: o.publicIp,
        version: o.nodeVersion,
        edition: o.edition,
        distribution: o.distribution,
        distro_release: o.distroRelease,
        ...(o.network.length > 0 ? { networks: collectTexts('--network', o.network) } : {}),
      },
    }),
    done: ([hostname]) => `Node ${hostname} entered.`,
  });
  callCommand(cli, managers, {
    name: 'update <hostname>',
    about: 'set the node id of file replication',
    operation: 'updateManager',
    options: [required('--fs-sync-node-id <id>', 'node id')],
    request: ([hostname], o) => ({ params: { hostname }, body: { fs_sync_node_id: o.fsSyncNodeId } }),
    done: ([hostname]) => `Node ${hostname} changed.`,
  });
  deleteCommand(cli, managers, {
    operation: 'deleteManager',
    param: 'hostname',
    argument: '<hostname>',
    about: 'take a node out of the cluster',
    kind: 'Node',
  });
}

function workerCommands(cli: Cli): void {
  const workers = noun(cli, 'workers', {
    alias: 'worker',
    about: 'workers that run operations (administrators)',
    examples: ['workers list --watch'],
  });
  command(cli, workers, {
    name: 'list',
    about: 'list workers, the last seen ones first',
    uses: ['listWorkers'],
    isWatched: true,
    run: async ({ client, out }) => out.table((await client.call('listWorkers')).items, WORKER),
  });
  callCommand(cli, workers, {
    name: 'revoke <id>',
    about: 'take the credential of a worker back for ever; what it runs goes to others',
    operation: 'revokeWorker',
    request: ([worker_id]) => ({ params: { worker_id } }),
    done: ([id]) =>
      `Worker ${id} revoked. It can join again under another id while it knows the join token: change that as well.`,
  });
}
