/** The statement by which gateways report their agents once a second. */
import type { AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface ReportedAgent {
  id: string;
  epoch: number;
  silentMs: number;
  /** AgentAbout as JSON that the database can store; null: as before. */
  about: string | null;
  isGone: boolean;
}

/** An agent about which there is something to say. */
export interface ReportAnswer {
  id: string;
  epoch: number;
  /** Why its stream must be closed; null: it may stay. */
  cut: string | null;
  /** Whether it must be told the authorities, and also needs another certificate. */
  trust: boolean;
  renew: boolean;
  /** The package to change to; null: none. */
  upgrade: { platform: string; version: string; sha256: string; size: number } | null;
  /** Settings as they are stored, when they have changed, and the sealed environment in hexadecimal digits; null: as before. */
  settings: unknown;
  env_sealed: string | null;
  /** Its record is being deleted, and nobody reaches its host but itself. */
  leave: boolean;
  /** Null for an agent that is not there. */
  tenant: string | null;
  name: string | null;
  /** Null where nothing was written. */
  former_state: string | null;
  state: string | null;
}

export interface ReportResult {
  rows: ReportAnswer[];
  /** PEM of all authorities that agents trust. */
  trusted: string;
  /** SHA-256 of the authorities whose agents are let in; null: there are none. */
  listener_digest: string | null;
}

/** `last_seen` is written only when it has moved by that much: a row of each agent a second would be too much. */
const SEEN_MS = 10_000;
/** An order that an agent does not seem to have heard is repeated. */
const TELL_AGAIN_MS = 30_000;
const UPGRADE_AGAIN_MS = 60_000;
/** Changed settings are told with each report for so long. */
const SETTINGS_MS = 10_000;

const ms = (value: number) => sql`${value}::float8 * interval '1 millisecond'`;

/** State of an agent (alias a) from which a sign of life came `silentMs` ago. */
const stateOf = (silentAfterMs: number) => sql`case
  when j.is_gone then a.state
  when j.silent_ms < ${silentAfterMs} and a.state in ('nonresponsive', 'restored') then 'started'
  when j.silent_ms >= ${silentAfterMs} and a.state = 'started' then 'nonresponsive'
  else a.state end`;

/** PEM and digests of the authorities. Concatenated in the order of trustedAuthorities. */
const AUTHORITIES = sql`
  select coalesce(string_agg(certificate, '' order by created_at, id), '') as pem,
    encode(sha256(convert_to(coalesce(string_agg(certificate, '' order by created_at, id), ''), 'UTF8')), 'hex') as trusted,
    encode(sha256(convert_to(string_agg(certificate, '' order by created_at, id) filter (where kind = 'own'), 'UTF8')), 'hex')
      as listener,
    (array_agg(id) filter (where kind = 'own' and superseded_at is null))[1] as signer
  from agent_authorities where retired_at is null`;

/** Agents of the report, and why they must go. Of two streams of an agent the one with the lower epoch is stale. */
const judged = (agents: readonly ReportedAgent[]) => sql`
  select g.*, case
      when a.id is null then 'deleted'
      when a.revoked_at is not null then 'revoked'
      when exists (select from baton.closed_tenants c where c.schema_name = current_schema() and c.tenant = a.tenant)
        then 'tenant_removed'
      when a.epoch <> g.epoch then 'connected_elsewhere' end as cut,
    a.state = 'deleting' and a.install_method in ('init_script', 'plugin', 'provided') as leave,
    case when a.settings_since > app_now() - ${ms(SETTINGS_MS)} then a.settings end as settings,
    encode(a.env_sealed, 'hex') as env_sealed, a.tenant, a.name
  from unnest(${agents.map(({ id }) => id)}::uuid[], ${agents.map(({ epoch }) => epoch)}::bigint[],
      ${agents.map(({ silentMs }) => silentMs)}::int[], ${agents.map(({ about }) => about)}::text[],
      ${agents.map(({ isGone }) => isGone)}::boolean[]) as g (id, epoch, silent_ms, about, is_gone)
    left join agents a on a.id = g.id`;

/** Agents whose rows must be written, locked by key: a row that another report has changed meanwhile is judged anew. */
const held = (gatewayId: string, silentAfterMs: number) => sql`
  select a.id, a.state as former_state, ${stateOf(silentAfterMs)} as state, j.silent_ms, j.is_gone, j.about, due.*
  from judged j join agents a on a.id = j.id and a.epoch = j.epoch and (a.revoked_at is null or j.is_gone)
    cross join authorities
    cross join lateral (select coalesce(j.about::jsonb, a.about) as told) now
    left join agent_packages p on p.platform = now.told ->> 'platform' and p.version = a.wanted_version
    cross join lateral (select
      not j.is_gone and (a.told_at is null or a.told_at < app_now() - ${ms(TELL_AGAIN_MS)})
        and ((now.told ->> 'authoritiesDigest') is distinct from authorities.trusted
          or a.certificate_authority is distinct from authorities.signer) as trust,
      a.certificate_authority is distinct from authorities.signer as renew,
      case when not j.is_gone and a.upgrade_state = 'ordered' and now.told ->> 'version' <> a.wanted_version
        and (a.upgrade_told_at is null or a.upgrade_told_at < app_now() - ${ms(UPGRADE_AGAIN_MS)})
        then json_build_object('platform', p.platform, 'version', p.version, 'sha256', p.sha256, 'size', p.size) end as upgrade) due
  where (j.cut is null or (j.is_gone and j.cut = 'revoked')) and case when j.is_gone then a.gateway_id is not null else
    a.gateway_id is distinct from ${gatewayId} or a.last_seen is null or j.about is not null
    or a.last_seen < app_now() - (j.silent_ms + ${SEEN_MS})::float8 * interval '1 millisecond'
    or a.state <> ${stateOf(silentAfterMs)} or due.trust or due.upgrade is not null end
  order by a.id for update of a`;

const written = (gatewayId: string) => sql`
  update agents a set
    gateway_id = case when h.is_gone then null else ${gatewayId} end,
    connected_since = case when h.is_gone or a.gateway_id is null then app_now() else a.connected_since end,
    last_seen = greatest(a.last_seen, app_now() - h.silent_ms::float8 * interval '1 millisecond'),
    about = coalesce(h.about::jsonb, a.about), version = coalesce(h.about::jsonb ->> 'version', a.version), state = h.state,
    told_at = case when h.trust then app_now() else a.told_at end,
    upgrade_told_at = case when h.upgrade is not null then app_now() else a.upgrade_told_at end
  from held h where a.id = h.id
  returning a.id, a.tenant, a.name, h.former_state, h.state, h.trust, h.renew, h.upgrade`;

/**
 * Writes a report and returns what to tell: one statement, however many agents. Each agent is there at most once.
 * @param silentAfterMs silence from which an agent is nonresponsive
 */
export async function writeReport(
  tx: AnyTx,
  gatewayId: string,
  agents: readonly ReportedAgent[],
  silentAfterMs: number,
): Promise<ReportResult> {
  const { rows } = await sql<ReportResult>`
    with authorities as materialized (${AUTHORITIES}), judged as materialized (${judged(agents)}),
      held as materialized (${held(gatewayId, silentAfterMs)}), written as (${written(gatewayId)})
    select authorities.pem as trusted, authorities.listener as listener_digest, (
      select coalesce(json_agg(json_build_object('id', j.id, 'epoch', j.epoch, 'cut', case when not j.is_gone then j.cut end,
        'trust', coalesce(w.trust, false), 'renew', coalesce(w.renew, false), 'upgrade', w.upgrade,
        'leave', coalesce(j.leave, false) and not j.is_gone,
        'settings', case when not j.is_gone then j.settings end, 'env_sealed', j.env_sealed, 'tenant', j.tenant, 'name', j.name,
        'former_state', w.former_state, 'state', w.state)), '[]')
      from judged j left join written w on w.id = j.id
      where ((j.cut is not null or j.leave) and not j.is_gone) or w.trust or w.upgrade is not null or (j.settings is not null and not j.is_gone)
        or w.former_state <> w.state) as rows
    from authorities`.execute(tx);
  return rows[0]!;
}

export interface SilentAgent {
  tenant: string;
  name: string;
  node_instance_id: string;
  former_state: string;
  state: string;
}

/**
 * Marks agents from which no gateway has reported a sign of life for `silentAfterMs`, at most `limit`: their gateway died, or their
 * stream has ended and no new one came. Rows that another replica holds are left to it.
 */
export async function markSilent(tx: AnyTx, silentAfterMs: number, limit: number): Promise<SilentAgent[]> {
  const { rows } = await sql<SilentAgent>`
    with silent as (select tenant, name, state as former_state from agents
      where (gateway_id is not null or state = 'started') and certificate_serial is not null
        and last_seen < app_now() - ${ms(silentAfterMs)}
      order by tenant, name limit ${limit} for update skip locked)
    update agents a set gateway_id = null, state = case when a.state = 'started' then 'nonresponsive' else a.state end,
      connected_since = case when a.gateway_id is null then a.connected_since else a.last_seen end
    from silent s where a.tenant = s.tenant and a.name = s.name
    returning a.tenant, a.name, a.node_instance_id, s.former_state, a.state`.execute(tx);
  return rows;
}

/** Notes packages that a gateway serves. */
export async function writePackages(
  tx: AnyTx,
  packages: readonly { platform: string; version: string; sha256: string; size: number }[],
): Promise<void> {
  await sql`insert into agent_packages (platform, version, sha256, size)
    select distinct on (p.platform, p.version) p.* from unnest(${packages.map((p) => p.platform)}::text[],
      ${packages.map((p) => p.version)}::text[], ${packages.map((p) => p.sha256)}::text[], ${packages.map((p) => p.size)}::bigint[])
      as p (platform, version, sha256, size)
    order by 1, 2
    on conflict (platform, version) do update set sha256 = excluded.sha256, size = excluded.size, seen_at = app_now()`.execute(
    tx,
  );
}
