import type { Db } from '@baton/postgres';
import type { DB as Tables } from '../store/tables.gen';

const BATCH = 1_000;
/** Expired tokens stay readable for a while, so that their owners see why they are refused. */
const KEEP = '7 days';

/** Removes tokens that expired a week ago; any number of replicas may do it at once. */
export async function purgeTokensOnce(deps: { db: Db<Tables> }): Promise<{ again: boolean }> {
  const { rowCount } = await deps.db.pool.query(
    `delete from tokens where id in (
      select id from tokens where expiration_date < app_now() - interval '${KEEP}' limit ${BATCH} for update skip locked)`,
  );
  return { again: rowCount === BATCH };
}
