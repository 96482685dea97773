import type { IdentityProviderAnswer } from '@baton/contracts/http/identity-providers';
import { isoInstant, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { findProvider, listProviders, type ProviderRow } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { LdapProvider, OidcProvider, Provider } from '../domain/provider';
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

/** Returns the provider for a sign-in by a browser that leaves the page; null: there is none, or it is disabled. */
export async function providerToSignIn({ db }: Deps, id: string): Promise<OidcProvider | null> {
  const row = await findProvider(db.query, id);
  return row?.isEnabled && row.type === 'oidc' ? row : null;
}

/** What everybody may know: the page of the sign-in shows it. */
export async function publicProviders({
  db,
}: Deps): Promise<{ id: string; name: string; type: Provider['type'] }[]> {
  return (await listProviders(db.query))
    .filter(({ isEnabled }) => isEnabled)
    .map(({ id, name, type }) => ({ id, name, type }));
}

function present(row: ProviderRow, users: number): IdentityProviderAnswer {
  const common = {
    id: row.id,
    name: row.name,
    mapping: [...row.mapping],
    provision: row.provision,
    ca_certificate: row.caCertificate,
    is_enabled: row.isEnabled,
    users,
    created_at: isoInstant(row.createdAt.getTime()),
  };
  return row.type === 'ldap' ? { ...common, ...presentLdap(row) } : { ...common, ...presentOidc(row) };
}

const presentOidc = (row: OidcProvider) => ({
  type: row.type,
  issuer: row.issuer,
  client_id: row.clientId,
  has_client_secret: row.secretSealed !== null,
  scopes: [...row.scopes],
  parameters: { ...row.parameters },
  claims: { username: row.usernameClaim, groups: row.groupsClaim, strip_suffix: row.stripSuffix },
});

const presentLdap = (row: LdapProvider) => ({
  type: row.type,
  urls: [...row.urls],
  bind_dn: row.bindDn,
  has_bind_password: row.secretSealed !== null,
  user_base: row.userBase,
  user_filter: row.userFilter,
  username_attribute: row.usernameAttribute,
  subject_attribute: row.subjectAttribute,
  group_base: row.groupBase,
  group_filter: row.groupFilter,
  group_name_attribute: row.groupNameAttribute,
  nested_groups: row.hasNestedGroups,
});
