import { hasPermission, type ListPage, type ListQuery, type Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { isPrivate, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { whoOf } from '../domain/secret-access';
import { findVisibleProvider, type ProviderRow } from '../store/providers.sql';
import { openParameters, type ValueDeps } from './read-value';

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`p.name`,
  name: sql`p.name`,
  type: sql`p.type`,
  created_at: sql`p.created_at`,
  updated_at: sql`p.updated_at`,
  created_by: sql`p.created_by`,
  tenant_name: sql`p.tenant`,
  visibility: sql`p.visibility`,
  private_resource: isPrivate('p'),
  resource_availability: sql`p.visibility`,
};
/** Columns that are needed to decrypt connection parameters. */
const SEALED = ['tenant', 'version', 'ciphertext', 'wrapped_key', 'master_key_id'];
const sealedColumns = Object.fromEntries(SEALED.map((name) => [`_${name}`, sql.ref(`p.${name}`)]));

/** Connection parameters hold credentials: users without this permission get null. */
const maySeeParameters = (principal: Principal): boolean =>
  hasPermission(principal, 'secrets_provider_credentials');

function present(deps: ValueDeps, row: ProviderRow, isShown: boolean): Record<string, unknown> {
  return {
    id: row.name,
    name: row.name,
    type: row.type,
    connection_parameters: isShown ? openParameters(deps.masters, row) : null,
    created_at: row.created_at,
    updated_at: row.updated_at,
    created_by: row.created_by,
    tenant_name: row.tenant,
    visibility: row.visibility,
    private_resource: row.visibility === 'private',
    resource_availability: row.visibility,
  };
}

export async function listProviders(
  deps: ValueDeps,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  const include = list.include ?? [...Object.keys(columns), 'connection_parameters'];
  const isShown = include.includes('connection_parameters') && maySeeParameters(principal);
  const page = await selectPage<Record<string, unknown>>({
    db: deps.db.query,
    from: sql`secrets_providers p`,
    columns: { ...columns, ...sealedColumns },
    list: { ...list, include },
    where: [visibilityScope(principal, 'p', list.allTenants)],
    tieBreak: sql`p.created_at, p.tenant, p.name`,
    search: sql`p.name`,
    always: isShown ? ['name', ...Object.keys(sealedColumns)] : [],
  });
  if (!include.includes('connection_parameters')) return page;
  const items = page.items.map((row) => {
    const sealed = Object.fromEntries(SEALED.map((name) => [name, row[`_${name}`]]));
    const plain = Object.fromEntries(
      include.filter((name) => name in columns).map((name) => [name, row[name]]),
    );
    const parameters = isShown
      ? openParameters(deps.masters, { ...sealed, name: row.name } as unknown as ProviderRow)
      : null;
    return { ...plain, connection_parameters: parameters };
  });
  return { ...page, items };
}

/**
 * Returns the provider that `principal` sees under a name: one of the user's own tenant before a global one. @throws AppError
 * not_found_error
 */
export async function visibleProvider(
  deps: Pick<ValueDeps, 'db'>,
  principal: Principal,
  name: string,
): Promise<ProviderRow> {
  const row = await findVisibleProvider(deps.db.query, whoOf(principal), name);
  if (row === null) throw notFound('Secrets provider', name);
  return row;
}

/** Returns one provider. @throws AppError not_found_error */
export async function getProvider(
  deps: ValueDeps,
  principal: Principal,
  name: string,
): Promise<Record<string, unknown>> {
  return present(deps, await visibleProvider(deps, principal, name), maySeeParameters(principal));
}
