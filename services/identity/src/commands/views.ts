import type { Principal } from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { countViews, lockViews, removeView, type ViewRow, writeView } from '../store/own-settings.sql';
import type { DB as Tables } from '../store/tables.gen';

/** Most views of one user in one tenant. */
const MAX_VIEWS = 200;

interface Deps {
  db: Db<Tables>;
}

/** Stores a view in the tenant of the request; replaces the user's own view of that name. @throws AppError illegal_action_error */
export async function putView(deps: Deps, { userId, tenant }: Principal, view: ViewRow): Promise<void> {
  await deps.db.tx(async (tx) => {
    await lockViews(tx, userId);
    if ((await countViews(tx, { userId, tenant, but: view.name })) >= MAX_VIEWS)
      throw new AppError('illegal_action_error', `There are ${MAX_VIEWS} views already`, {
        field: 'name',
        expected: `at most ${MAX_VIEWS} views of one user in a tenant`,
      });
    await writeView(tx, { userId, tenant }, view);
  });
}

/** Deletes a view of the user. @throws AppError not_found_error, also for a view that another user shares. */
export async function deleteView(deps: Deps, { userId, tenant }: Principal, name: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await removeView(tx, { userId, tenant }, name))) throw notFound('View', name);
  });
}
