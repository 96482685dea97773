import type { ListPage, ListQuery } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { licenseProblem } from '../domain/license-check';
import { type LicenseItem, readLicenseItem } from '../store/license.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** The license as a list: there is one at most. */
export async function listLicenses(
  { db }: Deps,
  { offset, size }: Pick<ListQuery, 'offset' | 'size'>,
): Promise<ListPage<LicenseItem>> {
  const item = await readLicenseItem(db.query);
  const all = item ? [item] : [];
  return { items: all.slice(offset, offset + size), total: all.length };
}

/**
 * Refuses a trial that has expired, and no license where one `isAskedFor`.
 * @throws AppError expired_cloudify_license; missing_cloudify_license
 */
export async function checkLicense({ db }: Deps, isAskedFor: boolean): Promise<void> {
  const problem = licenseProblem(await readLicenseItem(db.query), isAskedFor);
  if (problem) throw problem;
}
