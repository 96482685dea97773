import { Kysely } from 'kysely';
import type pg from 'pg';
import { clientDialect } from './driver';
import { type AnyTx, doAtEnd, insideScope, newScope } from './transaction-scope';

/**
 * Runs `work` with the store functions of a service in a transaction that the caller has begun on `client` and will end. Use it in
 * long transactions of the platform (imports), which are not commands. The messages that `work` notes go to the outbox; since nobody
 * is woken after the commit, the relay sends them at its next look.
 */
export async function onClient<T>(client: pg.PoolClient, work: (tx: AnyTx) => Promise<T>): Promise<T> {
  const tx = new Kysely({ dialect: clientDialect(client) }) as unknown as AnyTx;
  const scope = newScope();
  return await insideScope(tx, scope, async () => {
    const done = await work(tx);
    if (scope.atEnd.size > 0) await doAtEnd(scope);
    return done;
  });
}
