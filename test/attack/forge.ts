/** Forged signatures: tokens that a neighbour process signs in the name of somebody else. */
import type { Principal } from '@baton/contracts';
import { principalHeader } from '@baton/http';
import { Secret, systemClock } from '@baton/kernel';
import { derivedTrust, lifeFrom, type SigningKey, signToken } from '@baton/trust';
import { INTERNAL_KEY } from '../harness/fleet';

/** Signing key of the gateway in services mode, which only the gateway holds. */
export const gatewayKey = (): SigningKey => derivedTrust('gateway', new Secret(INTERNAL_KEY)).identity.key();

const principalOf = (tenant: string): Principal => ({
  userId: 0,
  username: 'admin',
  tenant,
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['secret_get', 'secret_list', 'all_tenants', 'administrators'],
  tenants: [{ name: tenant, roles: ['sys_admin'] }],
  authMethod: 'http_basic',
  executionId: '',
  isBootstrapAdmin: true,
});

/**
 * Returns a header that says "an administrator asks in this tenant", signed with the key `by`. `begun`, `lifeS`: its times in
 * seconds.
 */
export function principalBy(
  by: SigningKey,
  tenant: string,
  o: { begun?: number; lifeS?: number; audience?: string } = {},
): Record<string, string> {
  const life = lifeFrom(systemClock.now() + (o.begun ?? 0) * 1000, o.lifeS ?? 60);
  const claims = { iss: 'gateway', aud: o.audience ?? 'secrets', ...life, p: principalOf(tenant) };
  return { [principalHeader]: signToken('baton-principal', by, claims) };
}
