import type { JsonObject } from '@baton/kernel';
import { FatalError, type OperationLogger, RetryableError } from '@baton/plugin-sdk';
import {
  connect,
  type KnownHosts,
  type Login,
  type SshConnection,
  type SudoOptions,
} from '@baton/plugin-sdk/ssh';
import { numberOf, text } from './agent-config';
import { objectOf, type Reach, type Scope } from './scope';

/** Runtime property with the keys of hosts that were seen first; operations of the fabric plugin have the same. */
export const HOST_KEYS = '__baton_host_keys';
const SSH_PORT = 22;
const CONNECT_MS = 20_000;

/** A host with a login for the installation of its agent. */
export interface AgentHost {
  connection: SshConnection;
  /** How to run a command with the rights of root; false: with those of the login. */
  sudo: boolean | SudoOptions;
}

/** What a login is read from. */
export interface LoginSource {
  values: Readonly<JsonObject>;
  /** Address of the host, when `ip` is not among the values. @throws FatalError */
  hostIp(): Promise<string>;
  nodeId: string;
  reach: Reach;
  /** Runtime properties of the host. */
  runtime: Readonly<JsonObject>;
  log: Pick<OperationLogger, 'info' | 'debug'>;
  /** Told all keys of hosts when a new one was seen. */
  remember(hostKeys: JsonObject): void;
}

/** @throws FatalError that names what is missing, and where to write it (reference/agents.md 1 "remote") */
export async function loginOf(source: LoginSource): Promise<Login> {
  const { values, log } = source;
  const host = text(values, 'ip') ?? (await source.hostIp());
  const user = text(values, 'user');
  const key = text(values, 'key');
  const password = text(values, 'password');
  const missing = [
    ...(user === undefined ? ['user'] : []),
    ...(key === undefined && password === undefined ? ['key or password'] : []),
  ];
  if (user === undefined || missing.length > 0)
    throw new FatalError(
      `agent_config: ${missing.join(' and ')} missing for the login at ${host}. Write it into agent_config of node ${source.nodeId} ` +
        '(key: { get_secret: NAME }), or choose another install_method: init_script, provided or none',
    );
  if (key !== undefined && !key.includes('PRIVATE KEY'))
    throw new FatalError(
      'agent_config.key: the text of a private key is expected, and this looks like a path. A worker has no files of the manager: ' +
        'store the key as a secret (baton secrets create), and write key: { get_secret: NAME }',
    );
  const port = numberOf(values, 'port') ?? SSH_PORT;
  log.debug(`login at ${host}:${port} as ${user}`);
  const address = await reached(source, host, port);
  return { host: address, port, user, key, password, knownHosts: knownHostsOf(source, `${host}:${port}`) };
}

/** @throws FatalError for a host that the policy refuses, RetryableError for a name that is not known yet */
async function reached({ reach }: LoginSource, host: string, port: number): Promise<string> {
  try {
    return await reach(host, port);
  } catch (thrown) {
    const { message, code } = thrown as NodeJS.ErrnoException;
    if (code === undefined) throw new FatalError(message);
    throw new RetryableError(`the host ${host} is not found: ${message}`);
  }
}

/** Keys that the author names, or the key of the first login: another one is refused later. */
function knownHostsOf({ values, runtime, log, remember }: LoginSource, place: string): KnownHosts {
  const { known_hosts: known } = values;
  const list = typeof known === 'string' && known !== '' ? [known] : known;
  if (Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === 'string'))
    return list as string[];
  if (list !== undefined && list !== null && list !== '' && !(Array.isArray(list) && list.length === 0))
    throw new FatalError(
      'agent_config.extra.known_hosts: expected fingerprints such as SHA256:... or public keys',
    );
  const seen = objectOf(runtime[HOST_KEYS]);
  const before = seen[place];
  return {
    remembered: typeof before === 'string' ? before : undefined,
    remember: (key) => {
      log.info(`the host ${place} has the key ${key}; from now on another one is refused`);
      remember({ ...seen, [place]: key });
    },
  };
}

const isWithoutSudo = (values: Readonly<JsonObject>): boolean =>
  values.install_with_sudo === false || values.install_with_sudo === 'false';

/** Logs in at the host and closes the connection after `work`. @throws FatalError, RetryableError as the SDK's connect */
export async function atHost<T>(scope: Scope, work: (host: AgentHost) => Promise<T>): Promise<T> {
  const { ctx, instance, config } = scope;
  if (config.isWindows)
    throw new FatalError(
      'os_family is windows: this manager has no agent for Windows and no WinRM. Set agent_config.install_method: none ' +
        'and run the operations of this host on the manager (executor: central_deployment_agent)',
    );
  const login = await loginOf({
    values: config.values,
    hostIp: () => instance.hostIp(),
    nodeId: instance.nodeId,
    reach: scope.deps.reach,
    runtime: instance.runtimeProperties,
    log: ctx.logger,
    remember: (keys) => {
      instance.runtimeProperties = { ...instance.runtimeProperties, [HOST_KEYS]: keys };
    },
  });
  const connection = await connect({
    ...login,
    connectTimeoutMs: CONNECT_MS,
    signal: ctx.signal,
    log: ctx.logger,
  });
  try {
    // Before the first command: a process that dies later must not accept another key.
    await instance.update();
    const sudo = login.user === 'root' || isWithoutSudo(config.values) ? false : { password: login.password };
    return await work({ connection, sudo });
  } finally {
    connection.close();
  }
}
