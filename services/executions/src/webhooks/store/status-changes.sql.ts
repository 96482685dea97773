import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface StatusChange {
  tenant: string;
  execution_id: string;
  status: 'started' | 'terminated' | 'failed' | 'cancelled';
  deployment_id: string | null;
  blueprint_id: string | null;
  workflow_id: string;
  created_by: string;
  changed_at: string;
}

export async function hasStatusChanges(db: AnyQuery): Promise<boolean> {
  const { rows } = await sql`select from status_changes limit 1`.execute(db);
  return rows.length > 0;
}

/** Deletes the oldest changes that no other replica holds, and returns them in their order. */
export async function takeStatusChanges(tx: AnyTx, limit: number): Promise<StatusChange[]> {
  const { rows } = await sql<StatusChange>`
    with taken as (delete from status_changes where id = any(array(
      select id from status_changes order by id limit ${limit} for update skip locked)) returning *)
    select * from taken order by id`.execute(tx);
  return rows;
}

/** Stores whether a tenant listens, unless a later message has said so. */
export async function setListening(
  tx: AnyTx,
  tenant: string,
  { isListening, version }: { isListening: boolean; version: number },
): Promise<void> {
  await sql`insert into listening_tenants (tenant, is_listening, version) values (${tenant}, ${isListening}, ${version})
    on conflict (tenant) do update set is_listening = excluded.is_listening, version = excluded.version
    where listening_tenants.version < excluded.version`.execute(tx);
}
