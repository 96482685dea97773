import type { ServiceAccountAnswer } from '@baton/contracts/http/service-accounts';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB as Tables } from '../../store/tables.gen';
import { type AccountRow, findAccount, listAccounts } from '../store/accounts.sql';

interface Deps {
  db: Db<Tables>;
}

/** Lists all service accounts by name. */
export async function readAccounts({ db }: Deps): Promise<ServiceAccountAnswer[]> {
  return (await listAccounts(db.query)).map(present);
}

/** @throws AppError not_found_error, also for a user that is no service account */
export async function readAccount({ db }: Deps, name: string): Promise<ServiceAccountAnswer> {
  const found = await findAccount(db.query, name);
  if (!found) throw notFound('ServiceAccount', name);
  return present(found);
}

const present = ({ user_id: _id, ...row }: AccountRow): ServiceAccountAnswer => row;
