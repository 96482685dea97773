import { credentialsChanged } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import type { DB as Tables } from '../store/tables.gen';

/** Tells the gateways, once `tx` has committed, that the cached principals of `username` (empty: of every user) are invalid. */
export async function announceChange(tx: Tx<Tables>, username: string): Promise<void> {
  await outbox.append(tx, credentialsChanged, { tenant: '', key: username }, { username });
}
