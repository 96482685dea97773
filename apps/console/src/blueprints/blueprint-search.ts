/** Filters of the list of blueprints, kept in the address. Their names are those of the API. */
import type { BlueprintState } from '../api/blueprints';
import { choicesOf, textOf } from '../search-params';
import type { Visibility } from '../ui/visibility';

/** States offered as a filter. */
export const STATES = [
  'uploaded',
  'invalid',
  'failed_uploading',
  'failed_extracting',
  'failed_parsing',
] as const satisfies readonly BlueprintState[];
export const VISIBILITIES = ['private', 'tenant', 'global'] as const satisfies readonly Visibility[];
export const SORTS = ['-created_at', 'created_at', 'id', '-id', 'state'] as const;
export const USUAL_SORT = '-created_at';

export interface BlueprintSearch {
  _search?: string;
  state?: (typeof STATES)[number];
  visibility?: Visibility;
  /** A stored filter; see the screen of filters. */
  _filter_id?: string;
  _sort?: (typeof SORTS)[number];
}

/** Reads the known parameters of the address and drops the rest. */
export function readBlueprintSearch(search: Record<string, unknown>): BlueprintSearch {
  return {
    _search: textOf(search._search),
    state: choicesOf(textOf(search.state), STATES)?.[0],
    visibility: choicesOf(textOf(search.visibility), VISIBILITIES)?.[0],
    _filter_id: textOf(search._filter_id),
    _sort: choicesOf(textOf(search._sort), SORTS)?.[0],
  };
}
