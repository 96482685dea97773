import type { IdentityProviderAnswer } from '@baton/contracts/http/identity-providers';
import { isoInstant, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { findProvider, listProviders, type ProviderRow } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { Provider } from '../domain/provider';
import { countProviderUsers } from '../store/provider-users.sql';

interface Deps {
  db: Db<Tables>;
}

/** Lists all providers, with the number of their users and without their secrets. */
export async function readProviders({ db }: Deps): Promise<IdentityProviderAnswer[]> {
  const users = await countProviderUsers(db.query);
  return (await listProviders(db.query)).map((row) => present(row, users.get(row.id) ?? 0));
}

/** @throws AppError not_found_error */
export async function readProvider({ db }: Deps, id: string): Promise<IdentityProviderAnswer> {
  const row = await findProvider(db.query, id);
  if (!row) throw notFound('IdentityProvider', id);
  return present(row, (await countProviderUsers(db.query)).get(id) ?? 0);
}

/** Returns the provider for a sign-in; null: there is none, or it is disabled. */
export async function providerToSignIn({ db }: Deps, id: string): Promise<Provider | null> {
  const row = await findProvider(db.query, id);
  return row?.isEnabled ? row : null;
}

/** What everybody may know: the buttons of the page of the sign-in. */
export async function publicProviders({ db }: Deps): Promise<{ id: string; name: string; type: 'oidc' }[]> {
  return (await listProviders(db.query))
    .filter(({ isEnabled }) => isEnabled)
    .map(({ id, name }) => ({ id, name, type: 'oidc' }));
}

const present = (row: ProviderRow, users: number): IdentityProviderAnswer => ({
  id: row.id,
  type: 'oidc',
  name: row.name,
  issuer: row.issuer,
  client_id: row.clientId,
  has_client_secret: row.secretSealed !== null,
  scopes: [...row.scopes],
  parameters: { ...row.parameters },
  claims: { username: row.usernameClaim, groups: row.groupsClaim, strip_suffix: row.stripSuffix },
  mapping: [...row.mapping],
  provision: row.provision,
  ca_certificate: row.caCertificate,
  is_enabled: row.isEnabled,
  users,
  created_at: isoInstant(row.createdAt.getTime()),
});
