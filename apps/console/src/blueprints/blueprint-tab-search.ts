/** Choices on a blueprint's screen, kept in the address. */
import { textOf } from '../search-params';
import { readTopologySearch, type TopologySearch } from '../topology/topology-search';

export interface BlueprintTabSearch extends TopologySearch {
  /** Source tab: the path of the open file. */
  file?: string;
  /** Source tab: the highlighted line, counted from 1. */
  line?: number;
  /** Source tab: the search text for paths. */
  _search?: string;
}

export function readBlueprintTabSearch(search: Record<string, unknown>): BlueprintTabSearch {
  const line = Number(search.line);
  return {
    ...readTopologySearch(search),
    file: textOf(search.file),
    line: Number.isSafeInteger(line) && line > 0 ? line : undefined,
    _search: textOf(search._search),
  };
}
