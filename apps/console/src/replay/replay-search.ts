import { textOf } from '../search-params';

/** The moment that a replay shows, kept in the address: the number of an event. Absent: now, or the end. */
export interface ReplaySearch {
  at?: string;
}

/** Accepts only numbers that the API accepts. */
export const readReplaySearch = (search: Record<string, unknown>): ReplaySearch => {
  const at = textOf(search.at);
  return { at: at !== undefined && /^\d{1,15}$/.test(at) ? at : undefined };
};
