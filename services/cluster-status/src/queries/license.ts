import type { ListPage, ListQuery } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { licenseProblem } from '../domain/license-check';
import { type LicenseItem, readLicenseItem } from '../store/license.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** Returns the license as a list of one item, or an empty list. */
export async function listLicenses(
  { db }: Deps,
  { offset, size }: Pick<ListQuery, 'offset' | 'size'>,
): Promise<ListPage<LicenseItem>> {
  const item = await readLicenseItem(db.query);
  const all = item ? [item] : [];
  return { items: all.slice(offset, offset + size), total: all.length };
}

/**
 * Refuses an expired trial license, and a missing license when `isAskedFor`.
 * @throws AppError expired_cloudify_license; missing_cloudify_license
 */
export async function checkLicense({ db }: Deps, isAskedFor: boolean): Promise<void> {
  const problem = licenseProblem(await readLicenseItem(db.query), isAskedFor);
  if (problem) throw problem;
}
