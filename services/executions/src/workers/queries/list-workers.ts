import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

export interface ListedWorker {
  id: string;
  hostname: string | null;
  version: string | null;
  places: number | null;
  held: number;
  isolation: string | null;
  registered_at: string | null;
  last_seen: string;
  is_alive: boolean;
  revoked_at: string | null;
}

/** A worker silent for longer than this counts as dead; a living one reports every third of a lease. */
const SILENT_S = 60;
const MOST = 1_000;

const instant = (column: string) =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Returns the workers of the manager, last seen first; with `id` only that worker. Agents have a list of their own. */
export async function listWorkers(db: AnyQuery, id: string | null = null): Promise<ListedWorker[]> {
  const { rows } = await sql<ListedWorker>`
    select w.id, w.about->>'hostname' as hostname, w.about->>'version' as version,
      (w.about->>'slots')::int as places,
      (select count(*)::int from tasks t
        where t.lease_until > app_now() and t.worker_id = w.id and t.state in ('sent', 'started')) as held,
      w.about->'isolation'->>'name' as isolation, ${instant('w.registered_at')} as registered_at,
      ${instant('w.last_seen')} as last_seen, ${instant('w.revoked_at')} as revoked_at,
      w.revoked_at is null and w.last_seen > app_now() - make_interval(secs => ${SILENT_S}) as is_alive
    from workers w where (${id}::text is null or w.id = ${id}) and not starts_with(w.id, 'agent:')
    order by w.last_seen desc, w.id limit ${MOST}`.execute(db);
  return rows;
}
