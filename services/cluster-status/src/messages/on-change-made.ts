import type { ChangeMade, Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { addAuditEntries } from '../commands/audit-log';
import type { AuditFacts } from '../domain/audit-chain';
import type { DB } from '../store/tables.gen';

/** How long the first change of a batch waits for others: no client reads the log within this time. */
const GATHER_MS = 100;

interface Batch {
  rows: AuditFacts[];
  written: Promise<void>;
}

/**
 * Writes changes made by requests into the audit log, each once. Writers of the log wait for each other, so changes that arrive
 * together are written together. A message is acknowledged when its batch is committed. *Crash before:* the message is delivered
 * again, and the log knows its id.
 */
export function onChangeMade(deps: { db: Db<DB> }) {
  let open: Batch | null = null;
  let before: Promise<unknown> = Promise.resolve();
  const begin = (): Batch => {
    const rows: AuditFacts[] = [];
    const gathered = new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    // One transaction at a time in this process: a batch grows while the previous batch is written.
    const written = Promise.all([gathered, before]).then(() => {
      open = null;
      return addAuditEntries(deps, rows);
    });
    before = written.catch(() => undefined);
    return { rows, written };
  };
  return async ({ id, time, payload }: Envelope<ChangeMade>): Promise<void> => {
    open ??= begin();
    open.rows.push({
      message_id: id,
      ref_table: payload.refTable,
      ref_id: payload.refId,
      ref_identifier: payload.refIdentifier,
      operation: payload.operation,
      creator_name: payload.username,
      execution_id: payload.executionId === '' ? null : payload.executionId,
      request_id: payload.requestId,
      created_at: time,
    });
    await open.written;
  };
}
