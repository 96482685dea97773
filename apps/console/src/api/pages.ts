/** Reads lists of the API page by page. */
import type { QueryValue } from '@baton/client';

export const PAGE_SIZE = 50;

export interface Page<Row> {
  items: Row[];
  total: number;
  /** Of a page that was asked for with `_after`: the cursor of the next one; null: there is none. */
  next?: string | null;
}
export type ApiQuery = Record<string, QueryValue>;

/** Returns a page of a list. An answer has no total when none was requested: then it is the whole list. */
export const pageOf = <Row>({
  items,
  metadata,
}: {
  items: unknown[];
  metadata: { pagination: { total?: number | undefined } };
}): Page<Row> => ({ items: items as Row[], total: metadata.pagination.total ?? items.length });
