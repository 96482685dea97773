import type { Db } from './db';
import { prepared } from './prepared';
import type { AnyTx } from './transaction-scope';

const remember = {
  name: 'inbox-once',
  text: 'insert into inbox (consumer, message_id) values ($1, $2) on conflict do nothing returning 1 as fresh',
};

export const inbox = {
  /**
   * Returns whether `consumer` sees the message for the first time; call it in the transaction of the effect. A second delivery to
   * the same consumer waits for the first one's transaction and then gets false (or true after a rollback).
   */
  async once(tx: AnyTx, consumer: string, messageId: string): Promise<boolean> {
    return (await prepared(tx, remember, [consumer, messageId])).length > 0;
  },
};

const KEEP_MS = 7 * 24 * 3_600_000;
const PURGE_BATCH = 5_000;

/**
 * A loop that deletes inbox rows older than `keepMs` (default 7 days, far beyond any redelivery); safe on every replica. `tickOnce`
 * returns the number of deleted rows, at most 5,000.
 */
export function createInboxPurge(deps: {
  // biome-ignore lint/suspicious/noExplicitAny: works on the inbox of any service.
  db: Db<any>;
  keepMs?: number;
}): { tickOnce(): Promise<number> } {
  const text = `delete from inbox where ctid = any(array(
    select ctid from inbox where received_at < app_now() - $1::float8 * interval '1 millisecond' limit ${PURGE_BATCH} for update skip locked))`;
  return {
    tickOnce: async () => (await deps.db.pool.query(text, [deps.keepMs ?? KEEP_MS])).rowCount ?? 0,
  };
}
