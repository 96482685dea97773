import { badParameter, nearestName } from '@baton/kernel';

const DEFAULT = 'default';

/** Addresses of the manager by the network of a host (`network` of agent_config), the best first. */
export type AgentNetworks = ReadonlyMap<string, readonly string[]>;

const isAddress = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.search === '' &&
    url.hash === ''
  );
};

/** Reads `name=address` pairs, separated by commas; a name may come more than once. Returns what is wrong as a text. */
export function readNetworks(text: string): [string, string][] | string {
  const pairs: [string, string][] = [];
  for (const part of text.split(',').flatMap((one) => one.trim() || [])) {
    const at = part.indexOf('=');
    const [name, address] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at < 1 || !isAddress(address)) return `${part}: must be name=address with an http or https address`;
    pairs.push([name, address]);
  }
  return pairs;
}

/** @param url address for hosts without a network of their own, and for those of the network `default` unless that has others. */
export function networksOf(url: string, pairs: readonly (readonly [string, string])[]): AgentNetworks {
  const networks = new Map<string, string[]>();
  for (const [name, address] of pairs)
    networks.set(name, [...(networks.get(name) ?? []), address.replace(/\/+$/, '')]);
  if (!networks.has(DEFAULT)) networks.set(DEFAULT, [url.replace(/\/+$/, '')]);
  return networks;
}

/** Returns the addresses of a network. @throws AppError bad_parameters_error with the names that there are */
export function addressesOf(networks: AgentNetworks, network: string): readonly string[] {
  const found = networks.get(network);
  if (found) return found;
  const names = [...networks.keys()];
  throw badParameter('network', `There is no network \`${network.slice(0, 256)}\` (BATON_AGENTS_NETWORKS)`, {
    expected: names,
    nearest: nearestName(network, names),
  });
}
