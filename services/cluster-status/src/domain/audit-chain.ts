import { createHash } from 'node:crypto';

export interface AuditFacts {
  message_id: string;
  ref_table: string;
  ref_id: string;
  ref_identifier: Record<string, unknown>;
  operation: 'create' | 'update' | 'delete';
  creator_name: string;
  execution_id: string | null;
  request_id: string;
  /** ISO instant. */
  created_at: string;
}

/** The link before the first row of an empty log. */
export const FIRST_LINK = '0'.repeat(64);

/**
 * Returns the next link of the chain: sha256, hex, over the previous link and every fact of the row, keys of the identifier in
 * order.
 */
export function linkOf(previous: string, row: AuditFacts): string {
  const identifier = Object.entries(row.ref_identifier).sort(([a], [b]) => (a < b ? -1 : 1));
  const facts = [
    row.message_id,
    row.ref_table,
    row.ref_id,
    identifier,
    row.operation,
    row.creator_name,
    row.execution_id,
    row.request_id,
    new Date(row.created_at).toISOString(),
  ];
  return createHash('sha256')
    .update(`${previous}\n${JSON.stringify(facts)}`)
    .digest('hex');
}

/** Returns the id of the first row whose link does not follow from the row before; null when all rows are unchanged. */
export function firstBreak(rows: readonly (AuditFacts & { id: number; previous: string; chain: string })[]) {
  let previous = rows[0]?.previous ?? FIRST_LINK;
  for (const row of rows) {
    if (row.previous !== previous || linkOf(previous, row) !== row.chain) return row.id;
    previous = row.chain;
  }
  return null;
}
