/** The variable BATON_WEBHOOKS_ALLOW: addresses inside the installation that webhooks may lead to. */
import { addressRule, isNetwork, type SafeFetchDeps } from '@baton/http';

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)*\.?$/i;
/** Looks like an address, but is none: more likely an error than the name of a host. */
const NUMBERS = /^[\d.]+$/;

export const isReach = (text: string): boolean => isNetwork(text) || (HOST.test(text) && !NUMBERS.test(text));

/** Public addresses, the networks among `allowed`, and the hosts that `allowed` names whatever their addresses are. */
export function webhookReach(allowed: readonly string[]): SafeFetchDeps {
  const hosts = new Set(allowed.filter((one) => !isNetwork(one)).map((one) => one.toLowerCase()));
  return {
    isAllowed: addressRule(allowed.filter(isNetwork)),
    isHostAllowed: (hostname) => hosts.has(hostname.toLowerCase()),
  };
}
