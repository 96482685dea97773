/** The name of an installation's wire, the value of BATON_WIRE: as the specification says, or as the original answers. */
export type Wire = 'spec' | 'cloudify';

/**
 * The policy of the wire that the installation speaks, of a pair that a service holds. Only `service.ts` calls this, once:
 * everything else gets the policy and asks its members, so that no other place knows which wires there are.
 */
export const chooseWire = <Policy>(wire: Wire, policies: Readonly<Record<Wire, Policy>>): Policy =>
  policies[wire];
