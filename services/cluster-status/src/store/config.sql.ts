import { type Db, jsonb, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { ConfigRow } from '../adapters/config-values';
import type { DB } from './tables.gen';

/** Returns the values that users have set, by `scope.name`. */
export async function readConfig(reader: Db<DB>['query']): Promise<Map<string, ConfigRow>> {
  const { rows } =
    await sql<ConfigRow>`select scope, name, value, updated_at, updater_name from config`.execute(reader);
  return new Map(rows.map((row) => [`${row.scope}.${row.name}`, row]));
}

export async function upsertConfig(
  tx: Tx<DB>,
  change: { scope: string; name: string; value: unknown; username: string },
): Promise<ConfigRow> {
  const { rows } = await sql<ConfigRow>`
    insert into config (scope, name, value, updater_name)
    values (${change.scope}, ${change.name}, ${jsonb(change.value)}, ${change.username})
    on conflict (scope, name) do update set value = excluded.value, updated_at = app_now(),
      updater_name = excluded.updater_name
    returning scope, name, value, updated_at, updater_name`.execute(tx);
  return rows[0]!;
}
