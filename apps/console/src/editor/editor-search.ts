/** Choices in the editor, kept in the address. */
import { textOf } from '../search-params';
import { readTopologySearch, type TopologySearch } from '../topology/topology-search';

export interface EditorSearch extends TopologySearch {
  /** The path of the open file; absent: the main file. */
  file?: string;
}

export const readEditorSearch = (search: Record<string, unknown>): EditorSearch => ({
  ...readTopologySearch(search),
  file: textOf(search.file),
});
