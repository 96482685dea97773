import type { Duplex } from 'node:stream';
import { afterDelay } from '@baton/kernel';
import { Client, type ConnectConfig, type ParsedKey, utils } from 'ssh2';
import { FatalError, RetryableError } from '../errors';
import { type HostKeyCheck, hostKeyCheck } from './host-key';
import { KeyAgent } from './key-agent';
import type { ConnectOptions, Login } from './options';

const DEFAULT_PORT = 22;
const CONNECT_MS = 10_000;
const KEEPALIVE_MS = 15_000;
/** Signs of life in a row that a host may miss. */
const KEEPALIVE_MISSES = 4;

/** An open login. `name`: `user@host`, for messages. */
export interface OpenLogin {
  client: Client;
  name: string;
  isClosed(): boolean;
}

/**
 * Logs in at the host, through the hosts before it.
 * @throws RetryableError when the host cannot be reached, does not answer, or refuses the login (a machine that starts may not have its
 * keys yet)
 * @throws FatalError for wrong options, a private key that cannot be read, and a host key that is not the known one
 */
export async function openLogins(options: ConnectOptions): Promise<OpenLogin[]> {
  const { jump = [] } = options;
  const logins = [...(Array.isArray(jump) ? jump : [jump]), options] as readonly Login[];
  const open: OpenLogin[] = [];
  try {
    for (const login of logins) {
      const before = open.at(-1);
      const sock = before === undefined ? undefined : await through(before, login);
      const agent = login === options && options.forwardAgent === true;
      open.push(await openLogin(login, options, sock, agent));
    }
    return open;
  } catch (error) {
    closeLogins(open);
    throw error;
  }
}

export function closeLogins(logins: readonly OpenLogin[]): void {
  for (const { client } of [...logins].reverse()) client.end();
}

const portOf = ({ port = DEFAULT_PORT }: Login): number => port;

function through({ client, name }: OpenLogin, login: Login): Promise<Duplex> {
  const { host } = login;
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 0, host, portOf(login), (error, channel) => {
      if (error === undefined) resolve(channel);
      else
        reject(
          new RetryableError(`${name} does not reach ${host}:${portOf(login)}: ${error.message}`, {
            cause: error,
          }),
        );
    });
  });
}

async function openLogin(
  login: Login,
  options: ConnectOptions,
  sock: Duplex | undefined,
  forwardsAgent: boolean,
): Promise<OpenLogin> {
  const key = checkLogin(login);
  if (forwardsAgent && key === null)
    throw new FatalError(`ssh: an agent for ${login.host} needs a key of ${login.user}`);
  const agent = forwardsAgent && key !== null ? { agent: new KeyAgent(key), agentForward: true } : {};
  const { signal, log, connectTimeoutMs = CONNECT_MS } = options;
  const name = `${login.user}@${login.host}`;
  const place = `${login.host}:${portOf(login)}`;
  if (signal?.aborted) throw new RetryableError(`no connection to ${place}: the operation is stopped`);
  const check = hostKeyCheck(login.knownHosts ?? 'accept', place, (text) => log?.warning(text));
  const client = new Client();
  let isClosed = false;
  client.on('close', () => {
    isClosed = true;
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      settle();
      client.destroy();
      sock?.destroy();
      reject(check.refused() ?? error);
    };
    const onAbort = (): void =>
      fail(new RetryableError(`no connection to ${place}: the operation is stopped`));
    // The timer of the library does not see a connection that was never made.
    const cancel = afterDelay(connectTimeoutMs, () =>
      fail(new RetryableError(`${place} did not answer within ${connectTimeoutMs / 1000} s`)),
    );
    const settle = (): void => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    client.once('ready', () => {
      settle();
      resolve();
    });
    client.on('error', (error) => fail(failureOf(error, login, place)));
    client.once('close', () =>
      fail(new RetryableError(`${place} closed the connection before the login ended`)),
    );
    client.on('keyboard-interactive', (_name, _text, _language, prompts, finish) =>
      // Only a question for a secret gets the password.
      finish(prompts.map(({ echo }) => (echo ? '' : (login.password ?? '')))),
    );
    try {
      client.connect({ ...configOf(login, options, check, sock), ...agent });
    } catch (error) {
      fail(new FatalError(`${place}: ${(error as Error).message}`, { cause: error }));
    }
  });
  return { client, name, isClosed: () => isClosed };
}

function configOf(
  login: Login,
  options: ConnectOptions,
  check: HostKeyCheck,
  sock: Duplex | undefined,
): ConnectConfig {
  const { host, user, key, passphrase, password } = login;
  return {
    host,
    port: portOf(login),
    username: user,
    privateKey: key,
    passphrase,
    password,
    tryKeyboard: password !== undefined,
    sock,
    hostVerifier: (presented: Buffer) => check.accept(presented),
    ...(check.algorithms && { algorithms: { serverHostKey: check.algorithms as never } }),
    readyTimeout: options.connectTimeoutMs ?? CONNECT_MS,
    keepaliveInterval: options.keepaliveMs ?? KEEPALIVE_MS,
    keepaliveCountMax: KEEPALIVE_MISSES,
  };
}

/** @returns the private key; null: there is none. @throws FatalError for what is missing or wrong */
function checkLogin(login: Login): ParsedKey | null {
  const { host, user, key, passphrase, password } = login;
  const port = portOf(login);
  if (typeof host !== 'string' || host === '') throw new FatalError('ssh: the host is missing');
  if (typeof user !== 'string' || user === '') throw new FatalError(`ssh: the user for ${host} is missing`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new FatalError(`ssh: the port ${port} of ${host} is no number from 1 to 65535`);
  if (!key && !password) throw new FatalError(`ssh: a key or a password of ${user} at ${host} is missing`);
  if (!key) return null;
  const parsed: unknown = utils.parseKey(key, passphrase);
  const one = (Array.isArray(parsed) ? parsed[0] : parsed) as ParsedKey | Error;
  if (one instanceof Error)
    // The text of the library names the reason, never the key.
    throw new FatalError(`ssh: the private key of ${user} at ${host} cannot be read: ${one.message}`);
  if (!one.isPrivateKey())
    throw new FatalError(`ssh: the key of ${user} at ${host} is a public key: expected its private key`);
  return one;
}

function failureOf(error: Error & { level?: string }, { user, host }: Login, place: string): Error {
  if (error.level === 'client-authentication')
    return new RetryableError(`${host} refuses the login of ${user}: expected another key or password`, {
      cause: error,
    });
  return new RetryableError(`no connection to ${place}: ${error.message}`, { cause: error });
}
