import { type Db, isGlobal, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { PlanUse } from '../domain/plan-uses';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** Whether the plan of the blueprint (of the tenant or a global one) uses each of `names`: packages of plugins, or blueprints. */
export async function usesEach(
  db: Reader,
  blueprint: { tenant: string; id: string },
  kind: PlanUse['kind'],
  names: readonly string[],
): Promise<boolean> {
  const wanted = [...new Set(names)];
  const { rows } = await sql<{ count: number }>`
    select count(distinct u.name)::int as count from blueprint_uses u
    where u.kind = ${kind} and u.name = any(${wanted}) and (u.tenant, u.blueprint_id) = (
      select tenant, id from blueprints
      where id = ${blueprint.id} and (tenant = ${blueprint.tenant} or ${isGlobal()})
      order by tenant = ${blueprint.tenant} desc limit 1)`.execute(db);
  return rows[0]!.count === wanted.length;
}

/** Returns the package of an uploaded plugin; null when no plugin has that id. */
export async function packageOf(db: Reader, pluginId: string): Promise<string | null> {
  const row = await db
    .selectFrom('plugins')
    .select('package_name')
    .where('id', '=', pluginId)
    .executeTakeFirst();
  return row?.package_name ?? null;
}
