/** Reads of the file server: the files of a blueprint. */
import { type Db, isGlobal, sharedOrOwn, type Tx, type Viewer } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** The caller whose rights count; null: a user of another tenant, who sees only global resources. */
export type Reading = Viewer | null;

export interface ServedBlueprint {
  archive_digest: string | null;
  archive_size: number | null;
  kind: string | null;
  created_at: string;
  updated_at: string;
  has_icon: boolean;
}

const seenBy = (who: Reading) => (who === null ? sql<boolean>`${isGlobal('b')}` : sharedOrOwn(who, 'b'));

/** Returns the blueprint of exactly that tenant if `who` may see it. */
export async function findServedBlueprint(
  db: Reader,
  who: Reading,
  tenant: string,
  id: string,
): Promise<ServedBlueprint | null> {
  const row = await db
    .selectFrom('blueprints as b')
    .leftJoin('archives as a', 'a.digest', 'b.archive_digest')
    .select(['b.archive_digest', 'b.archive_size', 'a.kind', 'b.created_at', 'b.updated_at'])
    .select(sql<boolean>`b.icon is not null`.as('has_icon'))
    .where('b.tenant', '=', tenant)
    .where('b.id', '=', id)
    .where(seenBy(who))
    .executeTakeFirst();
  return row ?? null;
}

export async function findIcon(db: Reader, tenant: string, id: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('blueprints')
    .select('icon')
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.icon ?? null;
}
