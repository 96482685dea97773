import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { EgressSettings } from '../port';
import { type Endpoint, resolvers } from './endpoints';
import { LINK_LOCAL } from './link-local';

/** A place that operations may not reach; the message says why, and which setting decides. */
export class ReachRefused extends Error {}

const familyName = (family: 4 | 6): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6');

function add(list: BlockList, network: string, family: 4 | 6): void {
  const [address = '', bits] = network.split('/');
  if (bits === undefined) list.addAddress(address, familyName(family));
  else list.addSubnet(address, Number(bits), familyName(family));
}

const isIn = (endpoints: readonly Endpoint[], address: string, port: number): boolean =>
  endpoints.some((one) => {
    if (one.port !== null && one.port !== port) return false;
    const list = new BlockList();
    add(list, one.network, one.family);
    return list.check(address, familyName(isIP(address) as 4 | 6));
  });

/** Addresses of this machine: the loopback network and those of its interfaces. */
function ownAddresses(): BlockList {
  const own = new BlockList();
  own.addSubnet('127.0.0.0', 8, 'ipv4');
  own.addSubnet('0.0.0.0', 8, 'ipv4');
  own.addAddress('::1', 'ipv6');
  own.addAddress('::', 'ipv6');
  for (const of of Object.values(networkInterfaces()))
    for (const { address } of of ?? []) own.addAddress(address, familyName(isIP(address) as 4 | 6));
  return own;
}

const linkLocal = new BlockList();
for (const family of [4, 6] as const)
  for (const network of LINK_LOCAL[family]) add(linkLocal, network, family);

/** Why the policy refuses this address; null: it does not. */
function refusalOf(asked: EgressSettings, address: string, port: number): string | null {
  if (asked.mode === 'open') return null;
  if (isIn(asked.mode === 'none' ? asked.allow : [...asked.allow, ...resolvers()], address, port))
    return null;
  if (asked.mode === 'none') return 'BATON_WORKER_EGRESS=none refuses it';
  if (isIn(asked.deny, address, port)) return 'BATON_WORKER_EGRESS_DENY refuses it';
  const family = familyName(isIP(address) as 4 | 6);
  if (linkLocal.check(address, family)) return 'link-local and metadata addresses are refused';
  if (ownAddresses().check(address, family)) return 'it is the machine of the worker itself';
  return null;
}

/** Addresses of IPv4 in the form of IPv6 are those of IPv4. */
const plain = (address: string): string => /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;

/**
 * Applies the network policy of operations to a connection that the worker itself opens for one. Returns the address to connect to:
 * the name is looked up once, so that a second answer for it cannot lead elsewhere.
 * @throws ReachRefused; Error of the lookup for an unknown name
 */
export async function reachableAddress(asked: EgressSettings, host: string, port: number): Promise<string> {
  if (asked.mode === 'open') return host;
  const found = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
  let refusal: string | null = null;
  for (const { address } of found) {
    const refused = refusalOf(asked, plain(address), port);
    if (refused === null) return address;
    refusal ??= refused;
  }
  throw new ReachRefused(
    `${host}:${port} is not for operations: ${refusal}. BATON_WORKER_EGRESS_ALLOW of the workers can allow it`,
  );
}
