import { FatalError } from '@baton/plugin-sdk';
import type { KnownHosts, Login } from '@baton/plugin-sdk/ssh';
import { environmentOf } from './environment';
import { readKeyFile } from './key-file';
import { Values } from './read-values';

/** What `fabric_env` says, under our names. */
export interface HostSettings {
  login: Login;
  jump: Login[];
  connectTimeoutMs: number;
  commandTimeoutMs: number | undefined;
  keepaliveMs: number | undefined;
  sudoPassword: string | undefined;
  sudoUser: string | undefined;
  pty: boolean;
  /** Variables of all commands. */
  env: Record<string, string>;
  forwardAgent: boolean;
}

/** Where keys of hosts are kept; `null`: no place. */
export type KeyMemory = (place: string) => Exclude<KnownHosts, string | readonly string[]>;

const CONNECT_SECONDS = 10;

/**
 * Reads `fabric_env`, by the names of Fabric 1 and 2.
 * @param hostIp address of the host when the author names none
 * @throws FatalError that names what is missing or wrong
 */
export async function readFabricEnv(
  given: unknown,
  hostIp: () => Promise<string>,
  memory: KeyMemory,
): Promise<HostSettings> {
  const env = new Values(given, 'fabric_env');
  const login = await readLogin(env, 'fabric_env', hostIp, memory, null);
  const seconds = env.number('connect_timeout', 'timeout') ?? CONNECT_SECONDS;
  const limit = env.number('command_timeout');
  const keepalive = env.number('keepalive', 'keepalive_interval');
  return {
    login,
    jump: await readGateways(env, login, memory),
    connectTimeoutMs: Math.max(1, seconds) * 1000,
    commandTimeoutMs: limit ? limit * 1000 : undefined,
    keepaliveMs: keepalive === undefined ? undefined : keepalive * 1000,
    sudoPassword: env.text('sudo_password') ?? env.inside('sudo').text('password') ?? login.password,
    sudoUser: env.text('sudo_user') ?? env.inside('sudo').text('user'),
    pty: env.flag('pty', 'always_use_pty') ?? false,
    env: environmentOf(env.any('shell_env') ?? {}),
    forwardAgent: env.flag('forward_agent') ?? false,
  };
}

async function readLogin(
  env: Values,
  where: string,
  hostIp: () => Promise<string>,
  memory: KeyMemory,
  before: Login | null,
): Promise<Login> {
  const named = env.text('host_string', 'host');
  const place = readPlace(named ?? (await hostIp()), where);
  const port = env.number('port') ?? place.port;
  const user = place.user ?? env.text('user') ?? before?.user;
  if (user === undefined) throw new FatalError(`${where}.user: the user of ${place.host} is missing`);
  const options = env.inside('connect_kwargs');
  const key = await readKey(env, options);
  const password = env.text('password') ?? options.text('password');
  const own = { key, passphrase: env.text('passphrase') ?? options.text('passphrase'), password };
  const secrets = key === undefined && password === undefined && before !== null ? secretsOf(before) : own;
  if (secrets.key === undefined && secrets.password === undefined)
    throw new FatalError(`${where}: expected key, key_filename or password for ${user} at ${place.host}`);
  const at = { host: place.host, port, user };
  return { ...at, ...secrets, knownHosts: readKnownHosts(env, where, at, memory) };
}

const secretsOf = ({ key, passphrase, password }: Login) => ({ key, passphrase, password });

/** A key as text goes before one in a file of the worker. */
async function readKey(env: Values, options: Values): Promise<string | undefined> {
  const text = env.text('key') ?? options.text('pkey', 'key');
  if (text !== undefined) return text;
  const path = env.text('key_filename') ?? options.text('key_filename');
  return path === undefined ? undefined : await readKeyFile(path);
}

function readKnownHosts(
  env: Values,
  where: string,
  { host, port = 22 }: { host: string; port?: number },
  memory: KeyMemory,
): KnownHosts {
  const known = env.any('known_hosts');
  const isStrict = env.flag('strict') ?? false;
  if (known === undefined || known === 'first-use')
    return isStrict || known === 'first-use' ? memory(`${host}:${port}`) : 'accept';
  const list = typeof known === 'string' ? [known] : known;
  if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list;
  throw new FatalError(`${where}.known_hosts: expected fingerprints such as SHA256:..., or first-use`);
}

/** `gateway`: `user@host:port`, a dictionary as fabric_env, or a list of these. */
async function readGateways(env: Values, login: Login, memory: KeyMemory): Promise<Login[]> {
  const given = env.any('gateway') ?? [];
  const jumps: Login[] = [];
  for (const [at, one] of (Array.isArray(given) ? given : [given]).entries()) {
    const where = `fabric_env.gateway${Array.isArray(given) ? `[${at}]` : ''}`;
    const values = new Values(typeof one === 'string' ? { host_string: one } : one, where);
    const noHost = async (): Promise<string> => {
      throw new FatalError(`${where}.host: the address of the gateway is missing`);
    };
    jumps.push(await readLogin(values, where, noHost, memory, login));
  }
  return jumps;
}

/** Reads `[user@]host[:port]`; an IPv6 address with a port stands in brackets. */
function readPlace(text: string, where: string): { host: string; user?: string; port?: number } {
  const found = /^(?:([^@]+)@)?(?:\[([^\]]+)\]|([^:]+)|([0-9a-fA-F:.%a-z]+))(?::(\d+))?$/.exec(text);
  const host = found?.[2] ?? found?.[3] ?? found?.[4];
  if (found === null || host === undefined || /\s/.test(host))
    throw new FatalError(`${where}.host: ${JSON.stringify(text)} is no host; expected [user@]host[:port]`);
  return { host, user: found[1], port: found[5] === undefined ? undefined : Number(found[5]) };
}
