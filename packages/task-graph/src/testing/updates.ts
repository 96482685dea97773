import type { Json } from '@baton/kernel';
import type { DeploymentModel } from '../model';
import type { CallRequest, UpdateChanges } from '../workflow';

/** An update that adds all instances of one node and changes another node, in the format of the deployments service. */
export function updates(
  added: string,
  changed: string,
): (request: CallRequest, model: DeploymentModel) => Json {
  return ({ call }, { nodeInstances }) => {
    if (call !== 'update-perform') return {};
    const isNew = new Set(nodeInstances.filter((i) => i.node_id === added).map(({ id }) => id));
    const pairs = nodeInstances
      .filter(({ id }) => !isNew.has(id))
      .flatMap((i): [string, string][] =>
        i.relationships.flatMap(({ target_id }) => (isNew.has(target_id) ? [[i.id, target_id]] : [])),
      );
    const targets = nodeInstances
      .filter(({ id }) => isNew.has(id))
      .flatMap(({ relationships }) => relationships.map(({ target_id }) => target_id));
    const sources = pairs.map(([source]) => source);
    const changes: UpdateChanges = {
      added: [...isNew],
      added_related: [...new Set([...targets, ...sources])].filter((id) => !isNew.has(id)),
      removed: [],
      removed_related: [],
      extended: [...new Set(sources)],
      reduced: [],
      extended_relationships: pairs,
      reduced_relationships: [],
      changed_nodes: changed === added ? [] : [changed],
    };
    return changes as unknown as Json;
  };
}
