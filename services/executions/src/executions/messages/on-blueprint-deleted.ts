import type { blueprintDeleted, Envelope, MessageType } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { deleteEnded } from '../store/executions.sql';

type Deleted = typeof blueprintDeleted extends MessageType<infer T> ? T : never;

/** A blueprint is gone: the recorded execution of its upload goes with it. Repeating is harmless. */
export function onBlueprintDeleted(deps: { db: Db<DB> }) {
  return async ({ tenant, payload }: Envelope<Deleted>): Promise<void> => {
    await deps.db.tx((tx) => deleteEnded(tx, tenant, payload.executionId));
  };
}
