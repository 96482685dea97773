import { textOf } from '../search-params';

/** State of the screen kept in its address. Values of inputs are not part of it: they may be secret. */
export interface DeploySearch {
  blueprint_id?: string;
}

export const readDeploySearch = (search: Record<string, unknown>): DeploySearch => ({
  blueprint_id: textOf(search.blueprint_id),
});
