import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** A worker that has not reported for this long is not counted on; workers report every third of a lease. */
const WORKER_SILENT_S = 60;

/** The workers as they have reported, and the use of their places. */
export interface WorkerRoom {
  alive: number;
  lastSeen: string | null;
  /** Places of all living workers; `reserve` of them are only for tenants below their share. */
  places: number;
  reserve: number;
  /** Places held by operations of the tenant, places held by other tenants, and the number of these other tenants. */
  held: number;
  heldByOthers: number;
  otherTenants: number;
  /** Errors of living workers that cannot run the handlers that they are configured for. */
  handlersErrors: { worker: string; error: string }[];
}

/**
 * Reads the workers and their places. It reads all tasks that run now, so it is only for requests of people. Workers of release
 * N-1 report no reserve.
 */
export async function workerRoom(db: AnyQuery, tenant: string): Promise<WorkerRoom> {
  const { rows } = await sql<WorkerRoom>`
    with living as (select id, about from workers
      where last_seen > app_now() - make_interval(secs => ${WORKER_SILENT_S}) and not starts_with(id, 'agent:')),
    taken as (select e.tenant, count(*)::int as count from tasks t join executions e on e.id = t.execution_id
      where t.lease_until > app_now() and t.worker_id is not null and t.agent is null and not t.spec->'payload' ? 'isWorkflowCode'
      group by e.tenant)
    select (select count(*)::int from living) as alive,
      (select max(last_seen) from workers where not starts_with(id, 'agent:')) as "lastSeen",
      (select coalesce(sum((about->>'slots')::int), 0)::int from living) as places,
      (select coalesce(sum((about->>'reserve')::int), 0)::int from living) as reserve,
      coalesce((select count from taken where tenant = ${tenant}), 0) as held,
      (select coalesce(sum(count), 0)::int from taken where tenant <> ${tenant}) as "heldByOthers",
      (select count(*)::int from taken where tenant <> ${tenant}) as "otherTenants",
      (select coalesce(jsonb_agg(jsonb_build_object('worker', id, 'error', about->>'handlers_error')), '[]'::jsonb)
        from living where coalesce(about->>'handlers_error', '') <> '') as "handlersErrors"`.execute(db);
  return rows[0]!;
}

/** Returns whether the tenant holds all places that it may have: the free ones are kept for other tenants. */
export const isShareFull = ({ places, reserve, held, heldByOthers }: WorkerRoom): boolean =>
  places > 0 && reserve > 0 && held > 0 && held + heldByOthers >= places - reserve;
