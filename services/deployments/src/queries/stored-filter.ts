import type { FilterRule, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { findFilter } from '../store/filters.sql';

/** Rules of the stored filter that a request names; null when it names none. @throws AppError not_found_error */
export async function storedRules(
  db: AnyQuery,
  principal: Principal,
  filterId: string | null | undefined,
): Promise<FilterRule[] | null> {
  if (filterId === null || filterId === undefined) return null;
  const filter = await findFilter(db, principal, filterId);
  if (!filter) throw notFound('DeploymentsFilter', filterId);
  return filter.value;
}
