import type { OperationId } from '@baton/client';
import { collect } from '../collect';
import type { LooseClient } from './declared-client';
import type { Options } from './define';
import { isOnePage } from './list-options';

/** Returns everything that a list or search has, or the one page that --size and --offset ask for. */
export async function fetchItems(
  client: unknown,
  operation: OperationId,
  request: { query: Record<string, unknown> },
  options: Options,
): Promise<unknown[]> {
  const loose = client as LooseClient;
  if (!isOnePage(options)) return collect(loose.all(operation, request));
  const query = { ...request.query, _size: options.size, _offset: options.offset };
  return ((await loose.call(operation, { ...request, query })) as { items: unknown[] }).items;
}
