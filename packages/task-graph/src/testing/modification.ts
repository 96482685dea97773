import { isJsonObject, type Json } from '@baton/kernel';
import type { DeploymentModel, NodeInstance } from '../model';
import type { CallRequest } from '../workflow';

/** Deployment modifications in memory, one at a time, for a node that is scaled by one. */
export function modifications(nodeId: string): (request: CallRequest, model: DeploymentModel) => Json {
  let before: NodeInstance[] | null = null;
  let removed: string[] = [];
  return (request, model) => {
    if (request.call === 'modification-start') {
      before = structuredClone(model.nodeInstances);
      const entity = request.entities[nodeId];
      const planned = isJsonObject(entity) ? Number(entity.instances) : 0;
      const present = model.nodeInstances.filter((i) => i.node_id === nodeId);
      removed = present.slice(planned).map(({ id }) => id);
      const added = planned > present.length ? [addInstance(model, nodeId)] : [];
      const changed = [...added, ...removed];
      const related = model.nodeInstances
        .filter(
          ({ id, relationships }) =>
            !changed.includes(id) && relationships.some((r) => changed.includes(r.target_id)),
        )
        .map(({ id }) => id);
      return { modification_id: 'm', added, removed, related };
    }
    if (request.call === 'modification-finish')
      model.nodeInstances = model.nodeInstances.filter(({ id }) => !removed.includes(id));
    if (request.call === 'modification-rollback' && before) model.nodeInstances = before;
    return null;
  };
}

function addInstance(model: DeploymentModel, nodeId: string): string {
  const id = `${nodeId}_new`;
  const node = model.nodes.find((one) => one.id === nodeId)!;
  const related = (
    sourceNode: DeploymentModel['nodes'][number],
    source: NodeInstance,
    target: NodeInstance,
  ) => {
    const rel = sourceNode.relationships.find(({ target_id }) => target_id === target.node_id);
    if (rel) source.relationships.push({ target_id: target.id, target_name: target.node_id, type: rel.type });
  };
  const added: NodeInstance = {
    id,
    node_id: nodeId,
    state: 'uninitialized',
    relationships: [],
    runtime_properties: {},
    system_properties: {},
  };
  for (const other of model.nodeInstances) {
    related(node, added, other);
    related(model.nodes.find((one) => one.id === other.node_id)!, other, added);
  }
  model.nodeInstances.push(added);
  return id;
}
