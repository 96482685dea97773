import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Returns the sender of a request as the limits count it: an IPv4 address, or the /64 network of an IPv6 address, because one
 * customer usually has a whole /64.
 */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * `trustedProxies`: addresses and networks (10.0.0.0/8) whose `X-Forwarded-For` is trusted. The last address in that header that is
 * no trusted proxy counts; the addresses before it came from the client and may be forged.
 */
export function createAddressOf(trustedProxies: readonly string[]): AddressOf {
  const isProxy = createIsProxy(trustedProxies);
  // The peer of a connection does not change: its name is computed once.
  const peers = new WeakMap<object, { name: string; isProxy: boolean }>();
  return (request) => {
    const { socket } = request;
    let peer = peers.get(socket);
    if (!peer) {
      const address = withoutMapping(socket.remoteAddress ?? '');
      peer = { name: groupOf(address), isProxy: isProxy(address) };
      peers.set(socket, peer);
    }
    return peer.isProxy ? (behindProxies(request, isProxy) ?? peer.name) : peer.name;
  };
}

/** Whether a request came over TLS: to this process, or to a trusted proxy that says so. */
export function createIsHttps(trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  const isProxyPeer = createIsProxyPeer(trustedProxies);
  return (request) =>
    'encrypted' in request.socket ||
    // The headers last: node:http makes their object when it is asked for them.
    (isProxyPeer(request) && request.headers['x-forwarded-proto'] === 'https');
}

/** Whether the other end of the connection is a trusted proxy. */
export function createIsProxyPeer(trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const isProxy = createIsProxy(trustedProxies);
  return ({ socket }) => isProxy(withoutMapping(socket.remoteAddress ?? ''));
}

function createIsProxy(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const proxies = new BlockList();
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) > 0 && proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function behindProxies(request: IncomingMessage, isProxy: (address: string) => boolean): string | null {
  const header = request.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',');
  let found: string | null = null;
  for (let i = hops.length - 1; i >= 0; i--) {
    const address = withoutPort(hops[i]!.trim());
    if (isIP(address) === 0) break;
    found = groupOf(address);
    if (!isProxy(address)) break;
  }
  return found;
}

const withoutMapping = (address: string): string =>
  /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address;

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
  if (bracketed) return bracketed[1]!;
  return withoutMapping(/^\d+\.\d+\.\d+\.\d+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop);
}

function groupOf(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  const groups = [...first, ...zeros, ...last].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
