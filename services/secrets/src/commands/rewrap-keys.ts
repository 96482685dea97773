import type { Db } from '@baton/postgres';
import { type MasterKey, rewrapKey } from '../domain/envelope';
import { lockUnderOldKeys, sealedKinds, setWrappedKey } from '../store/master-keys.sql';
import type { DB } from '../store/tables.gen';

const BATCH = 100;

/**
 * Moves secrets and connection parameters of providers from former master keys to the current one: only their wrapped keys
 * change. Any number of replicas may run it (rows are locked, locked ones are skipped). During a change of keys all replicas must
 * know both keys.
 */
export async function rewrapOnce(deps: {
  db: Db<DB>;
  masters: readonly MasterKey[];
}): Promise<{ again: boolean }> {
  const [current, ...old] = deps.masters;
  if (current === undefined || old.length === 0) return { again: false };
  const keys = { currentId: current.id, knownIds: old.map((m) => m.id) };
  let again = false;
  for (const kind of sealedKinds) {
    const moved = await deps.db.tx(async (tx) => {
      const rows = await lockUnderOldKeys(tx, kind, keys, BATCH);
      for (const row of rows)
        await setWrappedKey(tx, kind, row, rewrapKey(deps.masters, row.identity, row.sealed));
      return rows.length;
    });
    again ||= moved === BATCH;
  }
  return { again };
}
