import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import {
  type Db,
  type FilterTarget,
  filterConditions,
  isPrivate,
  pageConditions,
  selectPage,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { shownValue } from '../adapters/secret-value';
import { maySeeValue, whoOf } from '../domain/secret-access';
import { findVisible, type SecretRow } from '../store/secrets.sql';
import type { DB } from '../store/tables.gen';
import { openContent, readValue, type ValueDeps } from './read-value';

/** Fields of list items: none of these columns reveals a value. */
const columns: Record<string, RawBuilder<unknown>> = {
  key: sql`s.key`,
  id: sql`s.key`,
  created_at: sql`s.created_at`,
  updated_at: sql`s.updated_at`,
  created_by: sql`s.created_by`,
  tenant_name: sql`s.tenant`,
  visibility: sql`s.visibility`,
  private_resource: isPrivate('s'),
  resource_availability: sql`s.visibility`,
  is_hidden_value: sql`s.is_hidden_value`,
  provider_name: sql`s.provider_name`,
};
/** Items of a search have all keys of a secret, with empty values for its sealed content (docs/compatibility.md). */
const searchColumns: typeof columns = {
  ...columns,
  value: sql`''`,
  schema: sql`s.schema`,
  provider_options: sql`null::text`,
};
const target: FilterTarget = {
  attributes: { key: sql`s.key`, provider_name: sql`s.provider_name` },
  labels: sql`(select null::text as key, null::text as value where false) l`,
  labelOwner: sql<SqlBool>`true`,
};
const from = sql`secrets s`;

function seenSecrets(principal: Principal, allTenants: boolean): RawBuilder<SqlBool> {
  return visibilityScope(principal, 's', allTenants);
}

/** Returns a page of secrets without values. */
export function listSecrets(db: Db<DB>['query'], principal: Principal, list: ListQuery) {
  return selectSecrets(db, principal, list, { rules: null, columns });
}

/** Returns a page of the secrets that pass the rules; null: no rules were given. */
export function searchSecrets(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  rules: readonly FilterRule[] | null,
) {
  return selectSecrets(db, principal, list, { rules, columns: searchColumns });
}

async function selectSecrets(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  { rules, columns }: { rules: readonly FilterRule[] | null; columns: typeof searchColumns },
): Promise<ListPage<Record<string, unknown>>> {
  const scope = seenSecrets(principal, list.allTenants);
  const where = [scope, ...filterConditions(rules ?? [], target)];
  const page = await selectPage<Record<string, unknown>>({
    db,
    from,
    columns,
    list,
    where,
    tieBreak: sql`s.created_at, s.tenant, s.key`,
    search: sql`s.key`,
  });
  if (rules === null || rules.length === 0) return page;
  // Counts all other visible secrets, whatever left them out.
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${from} where ${scope}`.execute(db);
  return { ...page, filtered: (rows[0]?.n ?? 0) - page.total };
}

/** Returns the rows for an export: all rows that the list conditions select, without paging. */
export async function listForExport(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<SecretRow[]> {
  const where = pageConditions({
    columns,
    list,
    where: [seenSecrets(principal, list.allTenants)],
    search: sql`s.key`,
  });
  const { rows } =
    await sql<SecretRow>`select s.* from ${from} where ${where} order by s.created_at, s.tenant, s.key`.execute(
      db,
    );
  return rows;
}

/**
 * Returns the secret that `principal` sees under a key: one of the user's own tenant before a global one. @throws AppError
 * not_found_error
 */
export async function visibleSecret(
  db: Db<DB>['query'],
  principal: Principal,
  key: string,
): Promise<SecretRow> {
  const [row] = await findVisible(db, whoOf(principal), [key]);
  if (row === undefined) throw notFound('Secret', key);
  return row;
}

/**
 * Returns one secret with its value. The value is empty for users who may not see it, and when it is not wanted. `written`: the
 * answer to a write; no provider is called, so that the answer shows the result of the write, and the value of an outside
 * provider is empty. `stored`: like `written`, but with the stored text, also when a schema turns the value into other JSON.
 */
export async function getSecret(
  deps: ValueDeps,
  principal: Principal,
  key: string,
  wanted: 'value' | 'written' | 'stored' | 'none',
): Promise<Record<string, unknown>> {
  const row = await visibleSecret(deps.db.query, principal, key);
  const maySee = maySeeValue(whoOf(principal), row);
  const content =
    maySee && (row.provider_name !== null || wanted === 'written' || wanted === 'stored')
      ? openContent(deps.masters, row)
      : null;
  const value =
    !maySee || wanted === 'none' ? null : wanted === 'value' ? await readValue(deps, row) : content?.value;
  return {
    key: row.key,
    id: row.key,
    value: value ? shownValue(value, wanted === 'stored' ? null : row.schema) : '',
    is_hidden_value: row.is_hidden_value,
    schema: row.schema,
    provider_name: row.provider_name,
    provider_options: content?.options ?? null,
    created_at: row.created_at,
    updated_at: row.updated_at,
    created_by: row.created_by,
    tenant_name: row.tenant,
    visibility: row.visibility,
    private_resource: row.visibility === 'private',
    resource_availability: row.visibility,
  };
}
