import type { FilterRule, Visibility } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

export interface FilterHead {
  tenant: string;
  id: string;
  value: FilterRule[];
  visibility: Visibility;
  is_system_filter: boolean;
}

const head = ['tenant', 'id', 'value', 'visibility', 'is_system_filter'] as const;

export async function lockFilterId(tx: Tx<DB>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`blueprint-filter ${id}`}, 0))`.execute(tx);
}

export async function findFilters(db: Db<DB>['query'] | Tx<DB>, id: string): Promise<FilterHead[]> {
  return (await db
    .selectFrom('blueprint_filters')
    .select(head)
    .where('id', '=', id)
    .execute()) as unknown as FilterHead[];
}

export async function insertFilter(
  tx: Tx<DB>,
  {
    created_at,
    ...f
  }: {
    tenant: string;
    id: string;
    value: FilterRule[];
    created_by: string;
    /** Null: now. */
    created_at: string | null;
    visibility: Visibility;
  },
): Promise<void> {
  await tx
    .insertInto('blueprint_filters')
    .values({ ...f, ...(created_at === null ? {} : { created_at }), value: JSON.stringify(f.value) })
    .execute();
}

export async function updateFilter(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  changes: { value?: FilterRule[]; visibility?: Visibility },
): Promise<void> {
  await tx
    .updateTable('blueprint_filters')
    .set({
      ...(changes.visibility ? { visibility: changes.visibility } : {}),
      ...(changes.value ? { value: JSON.stringify(changes.value) } : {}),
      updated_at: sql<string>`app_now()`,
    })
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .execute();
}

export async function deleteFilter(tx: Tx<DB>, tenant: string, id: string): Promise<void> {
  await tx.deleteFrom('blueprint_filters').where('tenant', '=', tenant).where('id', '=', id).execute();
}
