import type { Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

export interface NewContact {
  organisation: string;
  first_name: string;
  last_name: string;
  email: string;
  phone?: string | null;
}

/** Stores a contact; returns its number within its organisation. */
export async function insertContact(tx: Tx<DB>, contact: NewContact): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('contacts'), hashtext(${contact.organisation}))`.execute(
    tx,
  );
  const { rows } = await sql<{ number: number }>`
    insert into contacts (organisation, number, first_name, last_name, email, phone)
    select ${contact.organisation}, coalesce(max(number), 0) + 1, ${contact.first_name}, ${contact.last_name},
      ${contact.email}, ${contact.phone ?? null}
    from contacts where organisation = ${contact.organisation}
    returning number`.execute(tx);
  return rows[0]!.number;
}
