/** The name of an installation's wire, the value of BATON_WIRE: the API of the specification, or that of the original. */
export type Wire = 'spec' | 'cloudify';

/**
 * Returns the policy for the wire of the installation, out of the pair that a service holds. Only `service.ts` calls this, once.
 * All other code gets the policy and uses its members, so that no other place knows the list of wires.
 */
export const chooseWire = <Policy>(wire: Wire, policies: Readonly<Record<Wire, Policy>>): Policy =>
  policies[wire];
