import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';
import type { AgentPackage } from '../../domain/agents/install-script';

/** Returns the packages of the version that gateways have reported last; empty when none serves packages. */
export async function servedPackages(db: AnyQuery): Promise<AgentPackage[]> {
  const { rows } = await sql<AgentPackage>`
    select platform, version, sha256, size from agent_packages
    where version = (select version from agent_packages order by seen_at desc, version desc limit 1) order by platform`.execute(
    db,
  );
  return rows;
}

/** Returns those of `names` that are no agents of the tenant. */
export async function unknownAgents(tx: AnyTx, tenant: string, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select n.name from unnest(${[...names]}::text[]) as n (name)
    where not exists (select from agents a where a.tenant = ${tenant} and a.name = n.name)`.execute(tx);
  return rows.map(({ name }) => name);
}

/** Lets one transaction at a time change the upgrade of a tenant. */
export async function lockUpgrade(tx: AnyTx, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`agent-upgrade ${tenant}`}, 0))`.execute(tx);
}

/**
 * Begins an upgrade of the named agents (null: all of the tenant) that have another version, can be reached by a certificate, and
 * have a package of `version`. An earlier upgrade of the tenant ends. Returns the number of agents.
 */
export async function beginUpgrade(
  tx: AnyTx,
  {
    tenant,
    version,
    names,
    by,
  }: { tenant: string; version: string; names: readonly string[] | null; by: string },
): Promise<number> {
  await clearUpgrade(tx, tenant);
  const named = names === null ? sql`` : sql`and name = any(${[...names]}::text[])`;
  const { rows } = await sql<{ name: string }>`
    update agents a set wanted_version = ${version}, upgrade_state = 'waiting', upgrade_since = app_now(), upgrade_told_at = null
    where tenant = ${tenant} ${named} and certificate_serial is not null and revoked_at is null and certificate_until > app_now()
      and about ->> 'version' is distinct from ${version}
      and exists (select from agent_packages p where p.platform = a.about ->> 'platform' and p.version = ${version})
    returning name`.execute(tx);
  await sql`
    insert into agent_upgrades (tenant, version, total, state, created_by, ended_at)
    values (${tenant}, ${version}, ${rows.length}, ${rows.length === 0 ? 'done' : 'running'}, ${by},
      case when ${rows.length} = 0 then app_now() end)
    on conflict (tenant) do update set version = excluded.version, total = excluded.total, state = excluded.state, reason = null,
      created_by = excluded.created_by, created_at = app_now(), ended_at = excluded.ended_at`.execute(tx);
  return rows.length;
}

/** No agent of the tenant is to be upgraded any more. */
async function clearUpgrade(tx: AnyTx, tenant: string): Promise<void> {
  await sql`update agents set wanted_version = null, upgrade_state = null, upgrade_since = null, upgrade_told_at = null,
      state = case when state = 'upgrading' then 'started' else state end
    where tenant = ${tenant} and upgrade_state is not null`.execute(tx);
}

export interface RunningUpgrade {
  tenant: string;
  version: string;
  total: number;
  is_overdue: boolean;
}

/** Returns the upgrades that have not ended. */
export async function runningUpgrades(db: AnyQuery): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    select tenant from agent_upgrades where state = 'running' order by created_at, tenant`.execute(db);
  return rows.map(({ tenant }) => tenant);
}

/** Locks the running upgrade of a tenant; null when it has ended, or another replica works on it. */
export async function takeUpgrade(tx: AnyTx, tenant: string, lifeMs: number): Promise<RunningUpgrade | null> {
  const { rows } = await sql<RunningUpgrade>`
    select tenant, version, total, created_at < app_now() - ${lifeMs}::float8 * interval '1 millisecond' as is_overdue
    from agent_upgrades where tenant = ${tenant} and state = 'running' for update skip locked`.execute(tx);
  return rows[0] ?? null;
}

/** Agents that run the wanted version are through. */
export async function settleUpgraded(tx: AnyTx, tenant: string): Promise<void> {
  await sql`update agents set wanted_version = null, upgrade_state = null, upgrade_since = null, upgrade_told_at = null,
      state = case when state = 'upgrading' then 'started' else state end
    where tenant = ${tenant} and upgrade_state is not null and about ->> 'version' = wanted_version`.execute(
    tx,
  );
}

export interface UpgradeParts {
  /** Agents that were told and have not answered. */
  ordered: number;
  waiting: number;
  /** An agent that has gone back to its version or does not answer, and why. */
  failed: { name: string; reason: string } | null;
}

/** @param answerMs time after which an agent that has not changed its version counts as failed */
export async function upgradeParts(tx: AnyTx, tenant: string, answerMs: number): Promise<UpgradeParts> {
  const { rows } = await sql<UpgradeParts>`
    with part as (select name, upgrade_state, case
        when upgrade_state <> 'ordered' then null
        when upgrade_told_at < app_now() - interval '5 seconds' and about #>> '{upgrade,state}' = 'undone'
          and about #>> '{upgrade,version}' = wanted_version then coalesce(about #>> '{upgrade,reason}', 'no reason was given')
        when upgrade_since < app_now() - ${answerMs}::float8 * interval '1 millisecond' then 'the agent has not answered in time'
        end as failure
      from agents where tenant = ${tenant} and upgrade_state is not null)
    select count(*) filter (where upgrade_state = 'ordered')::int as ordered,
      count(*) filter (where upgrade_state = 'waiting')::int as waiting,
      (select json_build_object('name', name, 'reason', failure) from part where failure is not null order by name limit 1) as failed
    from part`.execute(tx);
  return rows[0]!;
}

/** Orders the next agents that are connected; returns their names. */
export async function orderUpgrades(tx: AnyTx, tenant: string, size: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with next as materialized (select name from agents
      where tenant = ${tenant} and upgrade_state = 'waiting' and gateway_id is not null order by name limit ${size} for update)
    update agents a set upgrade_state = 'ordered', upgrade_since = app_now(), upgrade_told_at = null,
      about = jsonb_set(a.about, '{upgrade}', 'null'), state = case when a.state = 'started' then 'upgrading' else a.state end
    from next n
    where a.tenant = ${tenant} and a.name = n.name returning a.name`.execute(tx);
  return rows.map(({ name }) => name);
}

export async function endUpgrade(
  tx: AnyTx,
  tenant: string,
  state: 'done' | 'stopped',
  reason: string | null,
): Promise<void> {
  await clearUpgrade(tx, tenant);
  await sql`update agent_upgrades set state = ${state}, reason = ${reason}, ended_at = app_now() where tenant = ${tenant}`.execute(
    tx,
  );
}
