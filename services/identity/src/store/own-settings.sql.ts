/** Settings that users make for themselves: plain records, rarely written. */
import type { Db, Tx } from '@baton/postgres';
import type { Prisma } from '../gen/prisma/client';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Db<Tables>['query'] | Tx<Tables>;

/** Reads the preferences; null when none are set. */
export async function readPreferences(db: Reader, userId: number): Promise<Record<string, unknown> | null> {
  const found = await model.over(db, (p) => p.userPreferences.findUnique({ where: { user_id: userId } }));
  return (found?.preferences as Record<string, unknown> | undefined) ?? null;
}

export async function writePreferences(
  tx: Tx<Tables>,
  userId: number,
  preferences: Record<string, unknown>,
): Promise<void> {
  const value = preferences as Prisma.InputJsonObject;
  await model.over(tx, async (p) => {
    await p.userPreferences.createMany({
      data: { user_id: userId, preferences: value },
      skipDuplicates: true,
    });
    await p.userPreferences.updateMany({ where: { user_id: userId }, data: { preferences: value } });
  });
}

export interface ViewRow {
  name: string;
  screen: string;
  query: string;
  isShared: boolean;
}

interface Owner {
  userId: number;
  tenant: string;
}

/** Locks the user's row, so that only one change of the user's views runs at a time. */
export async function lockViews(tx: Tx<Tables>, userId: number): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

/** Counts the views of the user in the tenant, without the view `but`. */
export async function countViews(
  tx: Tx<Tables>,
  { userId, tenant, but }: Owner & { but: string },
): Promise<number> {
  return model.over(tx, (p) => p.userView.count({ where: { user_id: userId, tenant, NOT: { name: but } } }));
}

/** Creates or replaces a view; two concurrent writes run one after the other. */
export async function writeView(
  tx: Tx<Tables>,
  { userId, tenant }: Owner,
  { name, screen, query, isShared }: ViewRow,
): Promise<void> {
  const key = { user_id: userId, tenant, name };
  const data = { screen, query, is_shared: isShared };
  await model.over(tx, async (p) => {
    await p.userView.createMany({ data: { ...key, ...data }, skipDuplicates: true });
    await p.userView.updateMany({ where: key, data });
  });
}

/** Deletes a view; returns false when the user has no such view in the tenant. */
export async function removeView(tx: Tx<Tables>, { userId, tenant }: Owner, name: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    p.userView.deleteMany({ where: { user_id: userId, tenant, name } }),
  );
  return count > 0;
}
