import type { ListQuery } from '@baton/contracts';

/** Whether a list is asked for with `_get_data`. */
export function hasData(list: ListQuery): boolean {
  return list.extra._get_data?.at(-1)?.toLowerCase() === 'true';
}
