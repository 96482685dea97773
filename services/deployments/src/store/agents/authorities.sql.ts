import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface AuthorityRow {
  id: string;
  kind: 'own' | 'given';
  /** PEM. */
  certificate: string;
  /** Null: a given one. */
  key_sealed: Buffer | null;
  superseded_at: string | null;
}

export interface NewAuthorityRow extends Pick<AuthorityRow, 'id' | 'kind' | 'certificate' | 'key_sealed'> {
  /** ISO instant. */
  expires_at: string;
}

/** Returns the authorities that are trusted, the oldest first. */
export async function trustedAuthorities(db: AnyQuery): Promise<AuthorityRow[]> {
  const { rows } = await sql<AuthorityRow>`
    select id, kind, certificate, key_sealed, superseded_at from agent_authorities where retired_at is null
    order by created_at, id`.execute(db);
  return rows;
}

/** Lets one transaction at a time change the authorities, and returns the trusted ones. */
export async function lockAuthorities(tx: AnyTx): Promise<AuthorityRow[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended('agent-authorities', 0))`.execute(tx);
  return await trustedAuthorities(tx);
}

/** Marks the present authorities of a kind as superseded. */
export async function supersedeAuthorities(tx: AnyTx, kind: AuthorityRow['kind']): Promise<void> {
  await sql`update agent_authorities set superseded_at = app_now()
    where kind = ${kind} and superseded_at is null and retired_at is null`.execute(tx);
}

export async function insertAuthority(tx: AnyTx, row: NewAuthorityRow): Promise<void> {
  await sql`insert into agent_authorities (id, kind, certificate, key_sealed, expires_at)
    values (${row.id}, ${row.kind}, ${row.certificate}, ${row.key_sealed}, ${row.expires_at})`.execute(tx);
}

/** Replaces the sealed key of an authority; a key that was sealed anew meanwhile stays. */
export async function resealAuthority(tx: AnyTx, id: string, former: Buffer, sealed: Buffer): Promise<void> {
  await sql`update agent_authorities set key_sealed = ${sealed} where id = ${id} and key_sealed = ${former}`.execute(
    tx,
  );
}

/**
 * Retires superseded authorities of which no valid certificate is left, or that were superseded `afterMs` ago, and all that have
 * expired. Returns their ids.
 */
export async function retireAuthorities(tx: AnyTx, afterMs: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update agent_authorities u set retired_at = app_now()
    where u.retired_at is null and (u.expires_at < app_now()
      or u.superseded_at < app_now() - ${afterMs}::float8 * interval '1 millisecond'
      or (u.kind = 'own' and u.superseded_at is not null and not exists (select from agents a where a.revoked_at is null
        and ((a.certificate_authority = u.id and a.certificate_until > app_now())
          or (a.former_authority = u.id and a.former_until > app_now())))))
    returning u.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Counts the agents of all tenants with a valid certificate. */
export async function countCertified(db: AnyQuery): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from agents
    where certificate_serial is not null and revoked_at is null and certificate_until > app_now()`.execute(
    db,
  );
  return rows[0]!.n;
}
