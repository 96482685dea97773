import type { ListPage, ListQuery } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { type ManagerRow, readManagers } from '../store/managers.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** Returns a page of the nodes of the cluster in the order of their ids; a filter may name hosts. */
export async function listManagers(
  { db }: Deps,
  { filters, offset, size }: Pick<ListQuery, 'filters' | 'offset' | 'size'>,
): Promise<ListPage<ManagerRow>> {
  const wanted = filters.hostname;
  const rows = (await readManagers(db.query)).filter((row) => !wanted || wanted.includes(row.hostname));
  return { items: rows.slice(offset, offset + size), total: rows.length };
}

/** @throws AppError not_found_error */
export async function getManager({ db }: Deps, hostname: string): Promise<ManagerRow> {
  const row = (await readManagers(db.query)).find((one) => one.hostname === hostname);
  if (!row) throw notFound('Manager', hostname);
  return row;
}
