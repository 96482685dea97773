import { choicesOf, textOf } from '../search-params';

export interface ScheduleListSearch {
  _search?: string;
  deployment_id?: string;
  enabled?: ('true' | 'false')[];
}

export const readScheduleListSearch = (search: Record<string, unknown>): ScheduleListSearch => ({
  _search: textOf(search._search),
  deployment_id: textOf(search.deployment_id),
  enabled: choicesOf(search.enabled, ['true', 'false']),
});
