import type { ListQuery } from '@baton/contracts';

/** Whether the request of a list has `_get_data`. */
export function hasData(list: ListQuery): boolean {
  return list.extra._get_data?.at(-1)?.toLowerCase() === 'true';
}
