import type { ChangeMade, Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { appendAudit } from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

/** A change by a request goes into the audit log, once. */
export function onChangeMade({ db }: { db: Db<DB> }) {
  return async ({ id, time, payload }: Envelope<ChangeMade>): Promise<void> => {
    const row = {
      message_id: id,
      ref_table: payload.refTable,
      ref_id: payload.refId,
      ref_identifier: payload.refIdentifier,
      operation: payload.operation,
      creator_name: payload.username,
      execution_id: payload.executionId === '' ? null : payload.executionId,
      request_id: payload.requestId,
      created_at: time,
    };
    await db.tx((tx) => appendAudit(tx, [row]));
  };
}
