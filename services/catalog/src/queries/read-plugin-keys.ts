import { type ListPage, type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage, visibilityScope } from '@baton/postgres';
import { sql } from 'kysely';
import { findRequirement } from '../store/plugin-keys.sql';
import type { DB } from '../store/tables.gen';

type KeyRow = Record<string, unknown>;

const plain = [
  'name',
  'public_key',
  'fingerprint',
  'state',
  'created_at',
  'created_by',
  'changed_at',
  'changed_by',
];
const columns = {
  ...Object.fromEntries(plain.map((name) => [name, sql`k.${sql.id(name)}`])),
  tenant_name: sql`k.tenant`,
};

export function listKeys(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<KeyRow>> {
  return selectPage<KeyRow>({
    db,
    from: sql`plugin_keys k`,
    columns,
    list,
    where: [visibilityScope(principal, 'k', list.allTenants)],
    tieBreak: sql`k.tenant, k.name`,
    search: sql`k.name`,
  });
}

/** Returns a key of the tenant. @throws AppError not_found_error */
export async function getKey(
  db: Db<DB>['query'],
  principal: Principal,
  name: string,
  include: string[] | null = null,
): Promise<KeyRow> {
  const list = listQuery({ include, filters: { name: [name] }, size: 1 });
  const [row] = (await listKeys(db, principal, list)).items;
  if (row === undefined) throw notFound('Plugin key', name);
  return row;
}

/** What the tenant asks of an upload. `ofManager`: the configuration asks for signatures in all tenants. */
export async function readTrust(
  db: Parameters<typeof findRequirement>[0],
  tenant: string,
  ofManager: boolean,
) {
  const own = await findRequirement(db, tenant);
  return { requires_signature: ofManager || own === true, is_default: own === null, is_enforced: ofManager };
}
