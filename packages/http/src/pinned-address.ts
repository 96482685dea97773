/** Resolves a host name once, and pins the connection to the address that was judged: no name can point elsewhere afterwards. */
import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address';

export interface AddressRules {
  /** Whether an address may be connected to; default: only public ones. */
  isAllowed: (address: string) => boolean;
  /** Whether a host may be reached by this name whatever its addresses are; default: none. */
  isHostAllowed: (hostname: string) => boolean;
  /** Returns all addresses of a name. */
  resolve: (hostname: string) => Promise<string[]>;
}

const resolveAll = (hostname: string): Promise<string[]> =>
  new Promise((resolve, reject) => {
    dnsLookup(hostname, { all: true, verbatim: true }, (error, found) =>
      error ? reject(error) : resolve(found.map((f) => f.address)),
    );
  });

/** Returns a `URL.hostname` without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/**
 * Returns the address to connect to; null when the host has no address, or one that is not allowed. One forbidden address among
 * several is how a rebinding attack begins.
 * @param hostname as `URL.hostname` writes it, an IPv6 address in brackets
 * @throws the error of the name service
 */
export async function pinnedAddress(
  hostname: string,
  { isAllowed = isPublicAddress, isHostAllowed = () => false, resolve = resolveAll }: Partial<AddressRules>,
): Promise<string | null> {
  const host = bareHost(hostname);
  const addresses = isIP(host) > 0 ? [host] : await resolve(host);
  return isHostAllowed(host) || addresses.every(isAllowed) ? (addresses[0] ?? null) : null;
}

/** Option `lookup` of node:http, node:https and node:net that always answers `address`. */
export const pinnedLookup =
  (address: string): LookupFunction =>
  (_name, options, done) => {
    const family = isIP(address);
    if (options.all) (done as unknown as (e: null, all: object[]) => void)(null, [{ address, family }]);
    else done(null, address, family);
  };
