import type { clusterStatusRpc } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Instance } from '../domain/health';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** Reports come every 5 s; three missed ones mean that the process is gone. */
const ALIVE_S = 15;
/** Dead processes are shown this long when nothing of their service lives, then forgotten. */
const FORGOTTEN_S = 3_600;

export async function upsertInstance(tx: Tx<DB>, report: clusterStatusRpc.ReportRequest): Promise<void> {
  await sql`
    insert into instances (service, instance_id, hostname, version, pid, started_at, checks, rss_bytes)
    values (${report.service}, ${report.instanceId}, ${report.hostname}, ${report.version}, ${report.pid},
      ${report.startedAt}, ${report.checksJson || '{}'}::jsonb, ${report.rssBytes})
    on conflict (service, instance_id) do update set hostname = excluded.hostname, version = excluded.version,
      pid = excluded.pid, checks = excluded.checks, rss_bytes = excluded.rss_bytes, last_seen = app_now()`.execute(
    tx,
  );
}

export async function deleteInstance(tx: Tx<DB>, service: string, instanceId: string): Promise<void> {
  await sql`delete from instances where service = ${service} and instance_id = ${instanceId}`.execute(tx);
}

export async function readInstances(reader: Reader): Promise<Instance[]> {
  const { rows } = await sql<Instance>`
    select service, instance_id, hostname, version, pid, started_at, checks,
      last_seen > app_now() - make_interval(secs => ${ALIVE_S}) as is_alive
    from instances order by service, instance_id`.execute(reader);
  return rows;
}

/** Forgets dead processes: at once where another of the service lives, later where none does. Hosts go with them. */
export async function forgetDead(tx: Tx<DB>): Promise<void> {
  await sql`
    delete from instances d where last_seen < app_now() - make_interval(secs => ${ALIVE_S * 4})
      and (last_seen < app_now() - make_interval(secs => ${FORGOTTEN_S}) or exists (
        select 1 from instances l where l.service = d.service and l.last_seen > app_now() - make_interval(secs => ${ALIVE_S})))`.execute(
    tx,
  );
  await sql`
    delete from managers m where not m.is_entered and last_seen < app_now() - make_interval(secs => ${ALIVE_S * 4})
      and not exists (select 1 from instances i where i.hostname = m.hostname)`.execute(tx);
}
