import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';

/** A network or a single address, IPv4 or IPv6. */
export interface Endpoint {
  family: 4 | 6;
  /** In the notation of nftables: `10.0.0.0/8`, `fd00::1`. */
  network: string;
  /** Port of TCP and UDP; null: all ports and protocols. */
  port: number | null;
}

const LOOKUP_MS = 2000;

/**
 * Parses `address[/bits][:port]`. An IPv6 address with a port stands in brackets: `[fd00::/8]:443`.
 * Null: not an endpoint.
 */
export function parseEndpoint(text: string): Endpoint | null {
  const [, bracketed, inner] = /^(\[(.+)\])(?::\d+)?$/.exec(text) ?? [];
  const plain = /^([\d.]+(?:\/\d+)?)(?::\d+)?$/.exec(text)?.[1];
  const network = bracketed ? inner! : (plain ?? text);
  const [address = '', bits, ...more] = network.split('/');
  const rest = text.slice((bracketed ?? network).length);
  const version = isIP(address);
  if (more.length > 0 || version === 0 || (bracketed && version !== 6) || address.includes('%')) return null;
  if (bits !== undefined && (!/^\d+$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128))) return null;
  const port = rest === '' ? null : Number(rest.slice(1));
  if (port !== null && (port < 1 || port > 65_535)) return null;
  return { family: version === 4 ? 4 : 6, network, port };
}

/** Returns the endpoints of a URL: the addresses that its host name resolves to now. */
export function endpointsOfUrl(url: string): Endpoint[] {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed) return [];
  const port = Number(parsed.port || (parsed.protocol === 'https:' ? 443 : 80));
  return addressesOf(parsed.hostname.replace(/^\[|\]$/g, '')).map((address) => endpoint(address, port));
}

/** Returns the name servers of this machine; they may run on the machine itself. */
export function resolvers(file = '/etc/resolv.conf'): Endpoint[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Without the file there are no name servers.
  }
  return [...text.matchAll(/^\s*nameserver\s+([^\s%]+)/gm)]
    .map(([, address = '']) => address)
    .filter((address) => isIP(address) !== 0)
    .map((address) => endpoint(address, 53));
}

const endpoint = (address: string, port: number): Endpoint => ({
  family: isIPv4(address) ? 4 : 6,
  network: address,
  port,
});

function addressesOf(host: string): string[] {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost') return ['127.0.0.1', '::1'];
  const end = spawnSync('getent', ['ahosts', host], { timeout: LOOKUP_MS, encoding: 'utf8' });
  const found = (end.stdout ?? '').split('\n').map((line) => line.split(/\s/, 1)[0] ?? '');
  return [...new Set(found)].filter((address) => isIP(address) !== 0);
}
