import type { AnyQuery, AnyTx } from '@baton/postgres';
import { jsonb } from '@baton/postgres';
import { sql } from 'kysely';

/** An agent that shows a certificate, locked. */
export interface CertifiedAgent {
  id: string;
  tenant: string;
  name: string;
  node_instance_id: string;
  state: string;
  epoch: number;
  settings: unknown;
  env_sealed: Buffer | null;
  gateway_id: string | null;
  process_id: string | null;
  former_process: string | null;
  is_revoked: boolean;
  is_tenant_gone: boolean;
  /** The shown certificate is the present one, or the former one while that is still good. */
  is_present: boolean;
  is_former: boolean;
  /** Of the shown certificate. */
  is_expired: boolean;
}

export interface IssuedCertificate {
  serial: string;
  /** ISO instant. */
  until: string;
  authority: string;
}

/** Locks the agent with this id; null when there is none. `serial`: of the shown certificate, in lower case. */
export async function lockCertified(tx: AnyTx, id: string, serial: string): Promise<CertifiedAgent | null> {
  const { rows } = await sql<CertifiedAgent>`
    select a.id, a.tenant, a.name, a.node_instance_id, a.state, a.epoch, a.settings, a.env_sealed, a.gateway_id, a.process_id, a.former_process,
      a.revoked_at is not null as is_revoked,
      exists (select from baton.closed_tenants c where c.schema_name = current_schema() and c.tenant = a.tenant) as is_tenant_gone,
      coalesce(a.certificate_serial = ${serial}, false) as is_present, coalesce(a.former_serial = ${serial}, false) as is_former,
      coalesce(case when a.certificate_serial = ${serial} then a.certificate_until else a.former_until end <= app_now(), true)
        as is_expired
    from agents a where a.id = ${id}::uuid for update of a`.execute(tx);
  return rows[0] ?? null;
}

/** Writes the next certificate of an agent; the shown one stays good until the next one is used. */
export async function writeRenewal(
  tx: AnyTx,
  agent: Pick<CertifiedAgent, 'id' | 'is_present'>,
  next: IssuedCertificate,
): Promise<void> {
  const former = agent.is_present
    ? sql`former_serial = certificate_serial, former_until = certificate_until, former_authority = certificate_authority,`
    : sql``;
  await sql`update agents set ${former} certificate_serial = ${next.serial}, certificate_until = ${next.until},
    certificate_authority = ${next.authority} where id = ${agent.id}::uuid`.execute(tx);
}

/** ISO instant of the transaction. */
const NOW = sql`to_char(app_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Writes the first certificate after an enrolment: all earlier ones are refused from then on, and a revocation is over. */
export async function writeEnrolled(
  tx: AnyTx,
  agent: { tenant: string; name: string },
  first: IssuedCertificate,
  aboutText: string,
): Promise<void> {
  await sql`update agents set certificate_serial = ${first.serial}, certificate_until = ${first.until},
      certificate_authority = ${first.authority}, former_serial = null, former_until = null, former_authority = null,
      revoked_at = null, epoch = epoch + 1, gateway_id = null, process_id = null, former_process = null,
      about = ${aboutText}::jsonb, version = ${aboutText}::jsonb ->> 'version'
    where tenant = ${agent.tenant} and name = ${agent.name}`.execute(tx);
}

/** Revokes other agents of the same instance: an address has one agent. Returns the ISO instant; null: there was none. */
export async function revokeSiblings(
  tx: AnyTx,
  { tenant, name, node_instance_id: instance }: { tenant: string; name: string; node_instance_id: string },
): Promise<string | null> {
  const { rows } = await sql<{ refused_at: string }>`
    update agents set revoked_at = app_now() where tenant = ${tenant} and node_instance_id = ${instance} and name <> ${name}
      and certificate_serial is not null and revoked_at is null returning ${NOW} as refused_at`.execute(tx);
  return rows[0]?.refused_at ?? null;
}

export interface Admission {
  gatewayId: string;
  processId: string;
  aboutText: string;
}

/** Writes that a stream of the agent has begun; returns its number and the state. */
export async function writeAdmission(
  tx: AnyTx,
  { id, is_present: isPresent }: Pick<CertifiedAgent, 'id' | 'is_present'>,
  { gatewayId, processId, aboutText }: Admission,
): Promise<{ epoch: number; state: string }> {
  const former = isPresent ? sql`former_serial = null, former_until = null, former_authority = null,` : sql``;
  const { rows } = await sql<{ epoch: number; state: string }>`
    update agents set ${former} epoch = epoch + 1, gateway_id = ${gatewayId}, connected_since = app_now(), last_seen = app_now(),
      told_at = app_now(), about = ${aboutText}::jsonb, version = ${aboutText}::jsonb ->> 'version',
      former_process = case when process_id is distinct from ${processId} then process_id else former_process end,
      process_id = ${processId}, state = case when state in ('nonresponsive', 'restored') then 'started' else state end
    where id = ${id}::uuid returning epoch, state`.execute(tx);
  return rows[0]!;
}

/** An agent that was revoked or deleted. */
export interface RefusedAgent {
  node_instance_id: string;
  /** ISO instant from which nothing of it counts; null: it had no good certificate before. */
  refused_at: string | null;
}

/** ISO instant of now for an agent (alias w) that has a certificate and is not revoked. */
const REFUSED_AT = sql`case when w.certificate_serial is not null and w.revoked_at is null then ${NOW} end as refused_at`;

/** Refuses every certificate of an agent from now on, and its open token. Returns null when the tenant has no such agent. */
export async function revokeAgent(tx: AnyTx, tenant: string, name: string): Promise<RefusedAgent | null> {
  const { rows } = await sql<RefusedAgent>`
    with w as materialized (select * from agents where tenant = ${tenant} and name = ${name} for update)
    update agents a set revoked_at = coalesce(a.revoked_at, app_now()), updated_at = app_now()
    from w where a.tenant = w.tenant and a.name = w.name returning w.node_instance_id, ${REFUSED_AT}`.execute(
    tx,
  );
  await sql`delete from agent_enrolments where tenant = ${tenant} and name = ${name}`.execute(tx);
  return rows[0] ?? null;
}

/** Returns null when the tenant has no such agent. Its open token goes with it. */
export async function deleteAgent(tx: AnyTx, tenant: string, name: string): Promise<RefusedAgent | null> {
  const { rows } = await sql<RefusedAgent>`
    delete from agents w where tenant = ${tenant} and name = ${name} returning w.node_instance_id, ${REFUSED_AT}`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** Writes what an agent is to do from now on; its gateway tells it. */
export async function writeSettings(
  tx: AnyTx,
  {
    tenant,
    name,
    settings,
    env_sealed: env,
  }: { tenant: string; name: string; settings: unknown; env_sealed: Buffer | null },
): Promise<void> {
  await sql`update agents set settings = ${jsonb(settings)}, env_sealed = ${env}, settings_since = app_now(),
      id = coalesce(id, gen_random_uuid())
    where tenant = ${tenant} and name = ${name}`.execute(tx);
}

/** Replaces the sealed environment of an agent; one that was sealed anew meanwhile stays. */
export async function writeResealedEnv(
  db: AnyQuery,
  tenant: string,
  name: string,
  former: Buffer,
  sealed: Buffer,
): Promise<void> {
  await sql`update agents set env_sealed = ${sealed} where tenant = ${tenant} and name = ${name} and env_sealed = ${former}`.execute(
    db,
  );
}
