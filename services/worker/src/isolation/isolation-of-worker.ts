import {
  type Account,
  type Choice,
  chooseIsolation,
  type EgressSettings,
  type Endpoint,
  endpointsOfUrl,
  type IsolationSettings,
  NoIsolationError,
  reachableAddress,
  runInside,
} from '@baton/isolation';
import { ConfigError } from '@baton/service-runtime';
import { scriptEnv, type WorkerConfig } from '../config';

/** Chooses the isolation. @throws ConfigError when the configured isolation does not work here */
export function isolationOf(settings: IsolationSettings): Choice {
  try {
    return chooseIsolation(settings);
  } catch (error) {
    if (error instanceof NoIsolationError)
      throw new ConfigError([`BATON_WORKER_ISOLATION: ${error.message}`]);
    throw error;
  }
}

/** Returns the text for `status`: the isolation, and the limits that it cannot enforce. */
export function isolationText({ isolation: { name, description, notEnforced } }: Choice): string {
  const open = notEnforced.length === 0 ? '' : `; not enforced: ${notEnforced.join('; ')}`;
  return `${name}: ${description}${open}`;
}

export function isolationSettings(
  config: WorkerConfig,
  { workRoot, assetsDir }: { workRoot: string; assetsDir: string },
): IsolationSettings {
  return {
    mode: config.BATON_WORKER_ISOLATION,
    workRoot,
    assetsDir,
    uids: config.BATON_WORKER_UID_RANGE,
    account: accountOf(config),
    limits: {
      processes: config.BATON_WORKER_LIMIT_PROCESSES,
      openFiles: config.BATON_WORKER_LIMIT_OPEN_FILES,
      fileBytes: config.BATON_WORKER_LIMIT_DISK,
      memoryBytes: config.BATON_WORKER_LIMIT_MEMORY || null,
    },
    controlGroup: config.BATON_WORKER_CGROUP,
    shared: config.BATON_WORKER_SHARED_PATHS.map((text) => {
      const isWritable = text.endsWith(':rw');
      return { path: isWritable ? text.slice(0, -':rw'.length) : text, isWritable };
    }),
    hidden: config.BATON_WORKER_HIDDEN_PATHS,
    path: scriptEnv(config).PATH ?? '',
    egress: egressOf(config),
  };
}

const egressOf = (config: WorkerConfig): EgressSettings => ({
  mode: config.BATON_WORKER_EGRESS,
  allow: [...config.BATON_WORKER_EGRESS_ALLOW, ...neededBy(config)],
  deny: config.BATON_WORKER_EGRESS_DENY,
});

/** The network policy of operations for connections that the worker opens itself, such as SSH to hosts of agents. */
export function reachOf(config: WorkerConfig): (host: string, port: number) => Promise<string> {
  const policy = egressOf(config);
  return (host, port) => reachableAddress(policy, host, port);
}

/** Returns the endpoints that operations of a worker need: the API, and proxies. They may be on this machine. */
function neededBy(config: WorkerConfig): Endpoint[] {
  if (config.BATON_WORKER_EGRESS !== 'restricted') return [];
  const proxies = Object.entries(scriptEnv(config))
    .filter(([name]) => /^https?_proxy$/i.test(name))
    .map(([, url]) => url);
  return [config.BATON_WORKER_MANAGER_URL, ...proxies].flatMap(endpointsOfUrl);
}

/**
 * Returns the Python that operations find. When the account of the operations cannot reach the Python of the worker, PATH leads
 * to another one, and environments of plugins must be created from that one.
 */
export function pythonInside({ isolation }: Choice, settings: IsolationSettings, command: string): string {
  if (isolation.name === 'none') return command;
  const end = runInside(isolation, settings, () => ({
    program: '/bin/sh',
    args: ['-c', 'exec "$0" -c "import sys; print(sys.executable)"', command],
  }));
  return (end.isFine && end.stdout.trim()) || command;
}

function accountOf({
  BATON_WORKER_SCRIPT_UID: uid,
  BATON_WORKER_SCRIPT_GID: gid,
}: WorkerConfig): Account | null {
  return uid === undefined ? null : { uid, gid: gid ?? uid };
}
