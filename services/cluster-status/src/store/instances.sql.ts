import type { clusterStatusRpc } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Instance } from '../domain/health';
import type { OsRelease } from '../domain/os-release';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** A process reports every 5 s; after three missed reports it counts as dead. */
const ALIVE_S = 15;
/** How long dead processes are shown when no process of their service lives; then their rows are deleted. */
const FORGOTTEN_S = 3_600;

/**
 * Stores the reports of the services of a living process, and its host. Returns the state of maintenance mode and a hash of the
 * set configuration values, which changes with the configuration. Done in one statement, because every process of the manager
 * sends a report every few seconds.
 */
export async function recordReports(
  db: Reader,
  reports: readonly [clusterStatusRpc.ReportRequest, ...clusterStatusRpc.ReportRequest[]],
  os: OsRelease,
): Promise<{ maintenance: string; configRevision: string }> {
  const [first] = reports;
  const rows = reports.map((report) => ({ ...report, checks: JSON.parse(report.checksJson || '{}') }));
  const { rows: answers } = await sql<{ maintenance: string; configRevision: string }>`
    with host as (
      insert into managers (hostname, address, version, distribution, distro_release)
      values (${first.hostname}, ${first.address || '127.0.0.1'}, ${first.version}, ${os.distribution}, ${os.release})
      on conflict (hostname) do update set address = excluded.address, version = excluded.version,
        distribution = excluded.distribution, distro_release = excluded.distro_release, last_seen = app_now()),
    process as (
      insert into instances (service, instance_id, hostname, version, pid, started_at, checks, rss_bytes, acts_by)
      select r.service, r."instanceId", r.hostname, r.version, r.pid, r."startedAt", r.checks, r."rssBytes", r."actsBy"
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (service text, "instanceId" text, hostname text, version text,
        pid bigint, "startedAt" timestamptz, checks jsonb, "rssBytes" bigint, "actsBy" text)
      on conflict (service, instance_id) do update set hostname = excluded.hostname, version = excluded.version,
        pid = excluded.pid, checks = excluded.checks, rss_bytes = excluded.rss_bytes, acts_by = excluded.acts_by, last_seen = app_now())
    select case when exists (select 1 from snapshot_jobs where kind = 'restore' and state = 'switching')
      then 'restoring' else status end as maintenance,
      (select md5(coalesce(string_agg(concat_ws(' ', scope, name, value), ',' order by scope, name), '')) from config) as "configRevision"
    from maintenance`.execute(db);
  return answers[0]!;
}

/** Returns living gateways that act by the state `restoring`, or (`isRestoring` false) those that do not. */
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

/**
 * Deletes dead processes: soon when another process of the service lives, later when none does. Hosts without processes are
 * deleted too.
 */
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
