import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { hasPermission } from '@baton/contracts';
import type { TokenAnswer } from '@baton/contracts/http/tokens';
import { notFound } from '@baton/kernel';
import { type Db, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB as Tables } from '../store/tables.gen';

interface Deps {
  db: Db<Tables>;
}

const from = sql`tokens t join users u on u.id = t.user_id`;

const columns: Record<keyof TokenAnswer, RawBuilder<unknown>> = {
  id: sql`t.id`,
  username: sql`u.username`,
  // Only the hash is stored, so the secret is always shown as stars.
  value: sql`'ctok-' || t.id || '-********'`,
  role: sql`u.role`,
  description: sql`t.description`,
  expiration_date: sql`t.expiration_date`,
  last_used: sql`t.last_used`,
};

/** Returns the id of the user whose tokens `principal` may see; null: the tokens of every user. */
export function ownerScope(principal: Principal): number | null {
  return hasPermission(principal, 'manage_others_tokens') ? null : principal.userId;
}

function owned(ownerId: number | null): RawBuilder<SqlBool>[] {
  return ownerId === null ? [] : [sql<SqlBool>`t.user_id = ${ownerId}`];
}

/** Lists tokens that users created by themselves; those of GET /tokens would only fill the list. */
export async function listTokens(
  deps: Deps,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<TokenAnswer>> {
  return selectPage<TokenAnswer>({
    db: deps.db.query,
    from,
    columns,
    list,
    where: [sql<SqlBool>`not t.is_session`, ...owned(ownerScope(principal))],
    filters: { created_at: sql`t.created_at` },
    sorts: (field) => (field === 'created_at' ? sql`t.created_at` : undefined),
    tieBreak: sql`t.created_at, t.id`,
  });
}

/** Returns a token. @throws AppError not_found_error, also for a token of another user that the caller may not see. */
export async function getToken(deps: Deps, principal: Principal, id: string): Promise<TokenAnswer> {
  const selection = selectFields(columns);
  const where = [sql`t.id = ${id}`, ...owned(ownerScope(principal))];
  const { rows } = await sql<TokenAnswer>`select ${selection} from ${from}
    where ${sql.join(where, sql` and `)}`.execute(deps.db.query);
  if (!rows[0]) throw notFound('Token', id);
  return rows[0];
}
