import { choicesOf, textOf } from '../search-params';
import { TOPOLOGY_LOOKS, type TopologyLook } from './topology-parts';

/** The choice between graph and table, kept in an address; the default is left out. */
export interface TopologySearch {
  view?: TopologyLook;
}

export const readTopologySearch = (search: Record<string, unknown>): TopologySearch => ({
  view: choicesOf(textOf(search.view), TOPOLOGY_LOOKS)?.find((one) => one !== TOPOLOGY_LOOKS[0]),
});
