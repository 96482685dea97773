import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { noProviderContext } from '../queries/provider-context';
import { type ProviderContext, writeProviderContext } from '../store/provider-context.sql';
import type { DB } from '../store/tables.gen';

/**
 * Sets the provider context, or replaces it when `isUpdate`.
 * @throws AppError conflict_error when a provider context exists already; not_found_error when there is none to replace.
 */
export async function setProviderContext(
  { db }: { db: Db<DB> },
  provider: ProviderContext,
  isUpdate: boolean,
): Promise<void> {
  if (await db.tx((tx) => writeProviderContext(tx, provider, isUpdate))) return;
  throw isUpdate
    ? noProviderContext()
    : new AppError('conflict_error', 'There is a provider context already; update=true replaces it', {
        field: 'update',
      });
}
