import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type AnyQuery, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { formatLocation } from '../domain/site-location';
import { siteColumns, siteScope } from '../store/sites.sql';

interface SelectedSite extends Record<string, unknown> {
  latitude: number | null;
  longitude: number | null;
}

const present = (site: SelectedSite) => ({
  ...site,
  location: formatLocation(site.latitude, site.longitude),
});

/** Compares as numbers: `1.0` and `1` are the same coordinate. */
const sameNumber =
  (column: RawBuilder<unknown>) =>
  (values: readonly string[]): RawBuilder<SqlBool> => {
    if (values.length === 0) return sql<SqlBool>`${column} is null`;
    const numbers = values.map(Number).filter(Number.isFinite);
    return sql<SqlBool>`${column} = any(${numbers}::float8[])`;
  };

export async function listSites(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<object>> {
  const page = await selectPage<SelectedSite>({
    db,
    from: sql`sites s`,
    columns: siteColumns,
    list,
    where: [siteScope(principal, list.allTenants)],
    tieBreak: sql`s.created_at, s.key`,
    search: sql`s.name`,
    filters: { latitude: sameNumber(sql`s.latitude`), longitude: sameNumber(sql`s.longitude`) },
    always: list.include?.includes('location') ? ['latitude', 'longitude'] : [],
  });
  const wantsLocation = list.include === null || list.include.includes('location');
  return { ...page, items: wantsLocation ? page.items.map(present) : page.items };
}

/** Returns a site; a site of the own tenant comes before a global one. @throws AppError not_found_error */
export async function readSite(db: AnyQuery, principal: Principal, name: string): Promise<object> {
  const fields = selectFields(siteColumns);
  const { rows } = await sql<SelectedSite>`
    select ${fields} from sites s where s.name = ${name} and ${siteScope(principal)}
    order by s.tenant = ${principal.tenant} desc limit 1`.execute(db);
  if (!rows[0]) throw notFound('Site', name);
  return present(rows[0]);
}
