import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface NewEnrolment {
  tenant: string;
  name: string;
  tokenDigest: Buffer;
  linkDigest: Buffer;
  /** Sealed. */
  script: Buffer;
  lifeMs: number;
}

/** Stores a token; an older one of the agent falls. Returns the ISO instant of its end. */
export async function writeEnrolment(tx: AnyTx, e: NewEnrolment): Promise<string> {
  const { rows } = await sql<{ expires_at: string }>`
    insert into agent_enrolments (tenant, name, token_digest, link_digest, script, expires_at)
    values (${e.tenant}, ${e.name}, ${e.tokenDigest}, ${e.linkDigest}, ${e.script},
      app_now() + ${e.lifeMs}::float8 * interval '1 millisecond')
    on conflict (tenant, name) do update set token_digest = excluded.token_digest, link_digest = excluded.link_digest,
      script = excluded.script, created_at = app_now(), expires_at = excluded.expires_at, used_for = null, certificate = null
    returning expires_at`.execute(tx);
  return rows[0]!.expires_at;
}

export interface OpenEnrolment {
  id: string;
  tenant: string;
  name: string;
  node_instance_id: string;
  settings: unknown;
  env_sealed: Buffer | null;
  used_for: Buffer | null;
  certificate: string | null;
  is_tenant_gone: boolean;
}

const OPEN = (digest: Buffer) => sql`
  select a.id, a.tenant, a.name, a.node_instance_id, a.settings, a.env_sealed, e.used_for, e.certificate,
    exists (select from baton.closed_tenants c where c.schema_name = current_schema() and c.tenant = a.tenant) as is_tenant_gone
  from agent_enrolments e join agents a on a.tenant = e.tenant and a.name = e.name
  where e.token_digest = ${digest} and e.expires_at > app_now()`;

/** Returns the enrolment of a token that is not too old; null when there is none. */
export async function findEnrolment(db: AnyQuery, tokenDigest: Buffer): Promise<OpenEnrolment | null> {
  return (await sql<OpenEnrolment>`${OPEN(tokenDigest)}`.execute(db)).rows[0] ?? null;
}

/**
 * The same, while its agent is locked: of several uses of one token the first one counts. Whoever changes an enrolment has locked the
 * agent before.
 */
export async function lockEnrolment(tx: AnyTx, tokenDigest: Buffer): Promise<OpenEnrolment | null> {
  await sql`select from agents a where (a.tenant, a.name) = (select e.tenant, e.name from agent_enrolments e
    where e.token_digest = ${tokenDigest}) for update of a`.execute(tx);
  return await findEnrolment(tx, tokenDigest);
}

/** Notes the key that got a certificate for the token. */
export async function useEnrolment(
  tx: AnyTx,
  { tenant, name }: { tenant: string; name: string },
  keyDigest: Buffer,
  certificate: string,
): Promise<void> {
  await sql`update agent_enrolments set used_for = ${keyDigest}, certificate = ${certificate}
    where tenant = ${tenant} and name = ${name}`.execute(tx);
}

/** Returns the sealed script of a link whose token is neither used nor too old. */
export async function findScript(
  db: AnyQuery,
  linkDigest: Buffer,
): Promise<{ name: string; script: Buffer } | null> {
  const { rows } = await sql<{ name: string; script: Buffer }>`
    select name, script from agent_enrolments
    where link_digest = ${linkDigest} and used_for is null and expires_at > app_now()`.execute(db);
  return rows[0] ?? null;
}

/** Removes enrolments that are too old, at most `limit`; returns their number. */
export async function purgeEnrolments(tx: AnyTx, limit: number): Promise<number> {
  const { rows } = await sql`
    with old as materialized (select tenant, name from agent_enrolments where expires_at < app_now() limit ${limit}
      for update skip locked)
    delete from agent_enrolments e using old where e.tenant = old.tenant and e.name = old.name returning e.name`.execute(
    tx,
  );
  return rows.length;
}
