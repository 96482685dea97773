/** The address by which the hosts of agents reach this manager, where nobody has given one (BATON_AGENTS_URL). */
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { StandaloneConfig } from './config';

/** Addresses at which a server is reached by every address of its machine. */
const EVERYWHERE = new Set(['0.0.0.0', '::']);

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** Returns the first address of the machine that others can reach; else loopback. */
function ownAddress(interfaces: Interfaces): string {
  const all = Object.values(interfaces).flatMap((some) => some ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** Undefined while the port is not known before it is opened (port 0). */
export function agentsUrl(
  { BATON_HOST: host, BATON_PORT: port }: Pick<StandaloneConfig, 'BATON_HOST' | 'BATON_PORT'>,
  env: NodeJS.ProcessEnv,
  interfaces: Interfaces = networkInterfaces(),
): string | undefined {
  if (port === 0) return undefined;
  const address = EVERYWHERE.has(host) ? ownAddress(interfaces) : host;
  const scheme = env.BATON_HTTPS_CERT_FILE ? 'https' : 'http';
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
