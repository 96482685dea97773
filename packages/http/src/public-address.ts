import { BlockList, isIP } from 'node:net';

/** Ranges that never belong to a public server: own host, private nets, link-local and metadata, multicast, documentation. */
const denied = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  denied.addSubnet(net, bits, 'ipv4');
// Teredo and similar ranges, documentation and 6to4 carry or imitate other addresses.
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  denied.addSubnet(net, bits, 'ipv6');
/** Global unicast: all other addresses (::1, mapped IPv4, NAT64, fc00::, fe80::, ff00::) are refused. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address is public (reference/field.md 3.4, S14). */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !denied.check(address, 'ipv4');
  return family === 6 && globalUnicast.check(address, 'ipv6') && !denied.check(address, 'ipv6');
}

/**
 * Returns a check of addresses that allows public ones, and those in `networks` (addresses or CIDR), which the operator allowed
 * explicitly.
 * @throws TypeError for a text that is no network; check it with `isNetwork` first.
 */
export function addressRule(networks: readonly string[]): (address: string) => boolean {
  const allowed = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    allowed.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  const isAllowed = (address: string): boolean => {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    if (mapped) return isAllowed(mapped);
    const family = isIP(address);
    return (
      (family !== 0 && allowed.check(address, family === 6 ? 'ipv6' : 'ipv4')) || isPublicAddress(address)
    );
  };
  return isAllowed;
}

/** Whether `text` is an IP address or a CIDR network. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}
