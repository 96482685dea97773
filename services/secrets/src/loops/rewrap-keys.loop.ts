import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import { rewrapOnce } from '../commands/rewrap-keys';
import type { MasterKey } from '../domain/envelope';
import type { DB } from '../store/tables.gen';

/** Moves data sealed under former master keys to the current one, until none is left. */
export function rewrapLoop(deps: { db: Db<DB>; masters: readonly MasterKey[] }): Loop {
  return { name: 'rewrap-keys', intervalMs: 60_000, tickOnce: () => rewrapOnce(deps) };
}
