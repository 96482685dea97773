import type { clusterStatusRpc } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Instance } from '../domain/health';
import type { OsRelease } from '../domain/os-release';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** Reports come every 5 s; three missed ones mean that the process is gone. */
const ALIVE_S = 15;
/** Dead processes are shown this long when nothing of their service lives, then forgotten. */
const FORGOTTEN_S = 3_600;

/**
 * Takes the report of a living process, which shows its host as well, and answers the state of maintenance: one
 * statement, since every process of the manager sends this every few seconds.
 */
export async function recordReport(
  db: Reader,
  report: clusterStatusRpc.ReportRequest,
  os: OsRelease,
): Promise<{ maintenance: string }> {
  const { rows } = await sql<{ maintenance: string }>`
    with host as (
      insert into managers (hostname, address, version, distribution, distro_release)
      values (${report.hostname}, ${report.address || '127.0.0.1'}, ${report.version}, ${os.distribution}, ${os.release})
      on conflict (hostname) do update set address = excluded.address, version = excluded.version,
        distribution = excluded.distribution, distro_release = excluded.distro_release, last_seen = app_now()),
    process as (
      insert into instances (service, instance_id, hostname, version, pid, started_at, checks, rss_bytes, acts_by)
      values (${report.service}, ${report.instanceId}, ${report.hostname}, ${report.version}, ${report.pid},
        ${report.startedAt}, ${report.checksJson || '{}'}::jsonb, ${report.rssBytes}, ${report.actsBy})
      on conflict (service, instance_id) do update set hostname = excluded.hostname, version = excluded.version,
        pid = excluded.pid, checks = excluded.checks, rss_bytes = excluded.rss_bytes, acts_by = excluded.acts_by, last_seen = app_now())
    select case when exists (select 1 from snapshot_jobs where kind = 'restore' and state = 'switching')
      then 'restoring' else status end as maintenance from maintenance`.execute(db);
  return rows[0]!;
}

/** Living gateways that do, or do not, act by the state `restoring`. */
export async function gatewaysActing(db: Reader, isRestoring: boolean): Promise<string[]> {
  const { rows } = await sql<{ instance_id: string }>`
    select instance_id from instances where service = 'gateway' and (acts_by = 'restoring') = ${isRestoring}
      and last_seen > app_now() - make_interval(secs => ${ALIVE_S})`.execute(db);
  return rows.map((row) => row.instance_id);
}

export async function deleteInstance(db: Reader, service: string, instanceId: string): Promise<void> {
  await sql`delete from instances where service = ${service} and instance_id = ${instanceId}`.execute(db);
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
