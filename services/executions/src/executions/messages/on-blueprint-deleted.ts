import type { blueprintDeleted, Envelope, MessageType } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { forgetExecution } from '../commands/forget-executions';

type Deleted = typeof blueprintDeleted extends MessageType<infer T> ? T : never;

/** Deletes the recorded execution of a blueprint's upload when the blueprint is gone. Repeating is harmless. */
export function onBlueprintDeleted(deps: { db: Db<DB> }) {
  return async ({ tenant, payload }: Envelope<Deleted>): Promise<void> => {
    await forgetExecution(deps.db, tenant, payload.executionId);
  };
}
