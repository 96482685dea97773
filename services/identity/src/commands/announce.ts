import { credentialsChanged } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import type { DB as Tables } from '../store/tables.gen';

/** Tells the gateways that cached principals of `username` (empty: of everybody) are void, once `tx` has committed. */
export async function announceChange(tx: Tx<Tables>, username: string): Promise<void> {
  await outbox.append(tx, credentialsChanged, { tenant: '', key: username }, { username });
}
