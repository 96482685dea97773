/** Service accounts: plain records beside the user that each of them is. */
import type { TrustRule } from '@baton/contracts/http/service-accounts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from '../../store/tables.gen';
import { storedTrust, trustOf } from '../domain/trust';

type Reader = Db<Tables>['query'] | Tx<Tables>;

export interface AccountRow {
  user_id: number;
  name: string;
  description: string;
  role: string;
  active: boolean;
  trust: TrustRule[];
  created_by: string;
  created_at: string;
}

const columns = sql`a.user_id, u.username as name, a.description, u.role, u.active, a.trust, a.created_by, a.created_at`;
const from = sql`service_accounts a join users u on u.id = a.user_id`;
const read = (row: AccountRow): AccountRow => ({ ...row, trust: trustOf(row.trust, row.name) });

export async function listAccounts(db: Reader): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`select ${columns} from ${from} order by lower(u.username)`.execute(
    db,
  );
  return rows.map(read);
}

/** Finds the service account in any letter case. */
export async function findAccount(db: Reader, name: string): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`select ${columns} from ${from}
    where lower(u.username) = lower(${name})`.execute(db);
  return rows[0] && read(rows[0]);
}

/** Whether the user is a service account. */
export async function isServiceAccount(db: Reader, userId: number): Promise<boolean> {
  const { rows } = await sql`select from service_accounts where user_id = ${userId}`.execute(db);
  return rows.length > 0;
}

export async function insertAccount(
  tx: Tx<Tables>,
  row: { userId: number; description: string; trust: readonly TrustRule[]; createdBy: string },
): Promise<void> {
  await sql`insert into service_accounts (user_id, description, trust, created_by)
    values (${row.userId}, ${row.description}, ${JSON.stringify(storedTrust(row.trust))}::jsonb, ${row.createdBy})`.execute(
    tx,
  );
}

export async function writeTrust(tx: Tx<Tables>, userId: number, trust: readonly TrustRule[]): Promise<void> {
  await sql`update service_accounts set trust = ${JSON.stringify(storedTrust(trust))}::jsonb
    where user_id = ${userId}`.execute(tx);
}
