import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { type ProviderContext, readProviderContext } from '../store/provider-context.sql';
import type { DB } from '../store/tables.gen';

/** @throws AppError not_found_error */
export async function getProviderContext({ db }: { db: Db<DB> }): Promise<ProviderContext> {
  const found = await readProviderContext(db.query);
  if (!found) throw noProviderContext();
  return found;
}

export function noProviderContext(): AppError {
  return new AppError('not_found_error', 'There is no provider context');
}
