import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import { type MasterKey, rewrapKey } from '../domain/envelope';
import { lockUnderOldKeys, sealedOf, setWrappedKey } from '../store/secrets.sql';
import type { DB } from '../store/tables.gen';

const BATCH = 100;

/**
 * Moves secrets from former master keys to the current one: only their wrapped keys change. Any number of replicas (rows
 * are locked, locked ones skipped); during a change of keys all replicas must know both.
 */
export async function rewrapOnce(deps: {
  db: Db<DB>;
  masters: readonly MasterKey[];
}): Promise<{ again: boolean }> {
  const [current, ...old] = deps.masters;
  if (current === undefined || old.length === 0) return { again: false };
  const moved = await deps.db.tx(async (tx) => {
    const rows = await lockUnderOldKeys(
      tx,
      current.id,
      old.map((m) => m.id),
      BATCH,
    );
    for (const row of rows) await setWrappedKey(tx, row, rewrapKey(deps.masters, row, sealedOf(row)));
    return rows.length;
  });
  return { again: moved === BATCH };
}

export function rewrapLoop(deps: { db: Db<DB>; masters: readonly MasterKey[] }): Loop {
  return { name: 'rewrap-keys', intervalMs: 60_000, tickOnce: () => rewrapOnce(deps) };
}
