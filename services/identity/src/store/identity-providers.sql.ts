/** Identity providers: plain records, changed by administrators. */
import type { Db, Tx } from '@baton/postgres';
import { Prisma } from '../gen/prisma/client';
import { ldapOf, storedLdap } from '../providers/domain/ldap-settings';
import { mappingOf, type OidcSettings, type Provider, storedMapping } from '../providers/domain/provider';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Db<Tables>['query'] | Tx<Tables>;

/** A stored provider, and when it was made. */
export type ProviderRow = Provider & { createdAt: Date };

type Found = NonNullable<Awaited<ReturnType<typeof findRaw>>>;

const findRaw = (db: Reader, id: string) =>
  model.over(db, (p) => p.identityProvider.findUnique({ where: { id } }));

export async function findProvider(db: Reader, id: string): Promise<ProviderRow | null> {
  const found = await findRaw(db, id);
  return found ? read(found) : null;
}

export async function listProviders(db: Reader): Promise<ProviderRow[]> {
  return (await model.over(db, (p) => p.identityProvider.findMany({ orderBy: { id: 'asc' } }))).map(read);
}

function read(row: Found): ProviderRow {
  const common = {
    id: row.id,
    name: row.name,
    secretSealed: row.secret_sealed,
    mapping: mappingOf(row.mapping, row.id),
    provision: row.provision as Provider['provision'],
    caCertificate: row.ca_certificate,
    isEnabled: row.is_enabled,
    createdAt: row.created_at,
  };
  if (row.ldap !== null) return { ...common, type: 'ldap', ...ldapOf(row.ldap, row.id) };
  return {
    ...common,
    type: 'oidc',
    issuer: row.issuer,
    clientId: row.client_id,
    scopes: row.scopes,
    parameters: row.parameters as Record<string, string>,
    usernameClaim: row.username_claim,
    groupsClaim: row.groups_claim,
    stripSuffix: row.strip_suffix,
  };
}

/** The columns of OpenID Connect, which are empty for a directory. */
function oidcColumns(provider: Provider) {
  const { issuer, clientId, scopes, parameters, usernameClaim, groupsClaim, stripSuffix } =
    provider.type === 'oidc' ? provider : noOidc;
  return {
    issuer,
    client_id: clientId,
    scopes: [...scopes],
    parameters: { ...parameters },
    username_claim: usernameClaim,
    groups_claim: groupsClaim,
    strip_suffix: stripSuffix,
  };
}

const noOidc: OidcSettings = {
  issuer: '',
  clientId: '',
  scopes: [],
  parameters: {},
  usernameClaim: '',
  groupsClaim: '',
  stripSuffix: null,
};

/** Inserts the provider, or replaces all its settings. */
export async function writeProvider(tx: Tx<Tables>, provider: Provider): Promise<void> {
  const data = {
    type: provider.type,
    name: provider.name,
    secret_sealed: provider.secretSealed === null ? null : new Uint8Array(provider.secretSealed),
    ...oidcColumns(provider),
    mapping: storedMapping(provider.mapping) as unknown as Prisma.InputJsonObject,
    provision: provider.provision,
    ca_certificate: provider.caCertificate,
    is_enabled: provider.isEnabled,
    ldap:
      provider.type === 'ldap' ? (storedLdap(provider) as unknown as Prisma.InputJsonObject) : Prisma.DbNull,
  };
  await model.over(tx, async (p) => {
    await p.identityProvider.createMany({ data: { id: provider.id, ...data }, skipDuplicates: true });
    await p.identityProvider.updateMany({ where: { id: provider.id }, data });
  });
}

/** Deletes a provider; returns false when there is none. @throws foreign key violation while users belong to it */
export async function removeProvider(tx: Tx<Tables>, id: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.identityProvider.deleteMany({ where: { id } }));
  return count > 0;
}
