import type { ListPage } from '@baton/contracts';
import { sql } from 'kysely';
import { type ChunkedRequest, eventGroups, pageByChunks } from './events-by-chunk';

/** The most groups that make up a page; each needs one or two statements. */
const MOST_GROUPS = 20;

/**
 * Returns one page of events sorted by a counted field: counts the values of the field, and reads the page, by time, from the
 * events of the values on it. Null when these are too many values.
 */
export async function pageByGroups(
  request: ChunkedRequest,
): Promise<ListPage<Record<string, unknown>> | null> {
  const { list } = request;
  const { field } = list.sort[0]!;
  const column = request.columns[field]!;
  const { total, groups } = await eventGroups(request, column, MOST_GROUPS + 1);
  if (groups.length > MOST_GROUPS) return null;
  const items: Record<string, unknown>[] = [];
  for (const { value, first } of groups) {
    const offset = Math.max(0, list.offset - first);
    const ofGroup = value === null ? sql<boolean>`${column} is null` : sql<boolean>`${column} = ${value}`;
    const page = await pageByChunks({
      ...request,
      where: [...(request.where ?? []), ofGroup],
      list: {
        ...list,
        sort: [{ field: 'timestamp', descending: false }],
        offset,
        size: list.size - items.length,
      },
    });
    items.push(...page.items);
  }
  return { items, total };
}
