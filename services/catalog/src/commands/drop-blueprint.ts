import { blueprintDeleted } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import { deleteBlueprint } from '../store/blueprints.sql';
import type { DB } from '../store/tables.gen';

/** Deletes a locked blueprint and announces it, so that the execution of its upload is deleted as well. */
export async function dropBlueprint(tx: Tx<DB>, tenant: string, id: string): Promise<void> {
  const executionId = await deleteBlueprint(tx, tenant, id);
  if (executionId === null) return;
  await outbox.append(
    tx,
    blueprintDeleted,
    { tenant, key: `${tenant}/${id}` },
    { blueprintId: id, executionId },
  );
}
