import type { Json, JsonObject } from '@baton/kernel';
import type { CallRequest, DeploymentModel, SystemPropertyEdit } from '@baton/task-graph';

/** Answers calls of workflows to the deployments service, reduced to the parts that the simulation checks. */

export function answerCall(row: { model: DeploymentModel }, request: CallRequest): Json {
  if (request.call === 'system-properties') {
    for (const { nodeInstanceId, edits } of request.changes) applyEdits(row.model, nodeInstanceId, edits);
  }
  if (request.call === 'modification-start') return startModification(row.model, request.entities);
  if (request.call === 'modification-rollback' || request.call === 'modification-finish')
    endModification(row.model, request);
  return null;
}

/** Adds an instance to a node, like its first one, or marks its last one for removal. */
function startModification(model: DeploymentModel, entities: JsonObject): Json {
  const [entity, change] = Object.entries(entities)[0]! as [string, JsonObject];
  const present = model.nodeInstances.filter((i) => i.node_id === entity);
  const planned = change.instances as number;
  const related = [...new Set(present.flatMap((i) => neighbours(model, i.id)))];
  const removed = present.slice(planned).map((i) => i.id);
  const added: string[] = [];
  for (let n = present.length; n < planned; n++) {
    const like = present[0]!;
    const id = `${entity}_new${n}`;
    added.push(id);
    model.nodeInstances.push({ ...like, id, state: 'uninitialized', system_properties: {} });
    for (const source of model.nodeInstances) {
      const rel = source.relationships.find((r) => r.target_id === like.id);
      if (rel && source.id !== id)
        source.relationships = [...source.relationships, { ...rel, target_id: id }];
    }
  }
  const id = `modification:${added.join()}:${removed.join()}`;
  return { modification_id: id, added, removed, related: related.filter((r) => !removed.includes(r)) };
}

function neighbours(model: DeploymentModel, id: string): string[] {
  return model.nodeInstances.flatMap((i) => {
    const targets = i.relationships.map((r) => r.target_id);
    if (i.id === id) return targets;
    return targets.includes(id) ? [i.id] : [];
  });
}

function endModification(
  model: DeploymentModel,
  request: Extract<CallRequest, { modificationId: string }>,
): void {
  const [, added, removed] = request.modificationId.split(':');
  const gone = new Set(
    (request.call === 'modification-finish' ? removed! : added!).split(',').filter(Boolean),
  );
  model.nodeInstances = model.nodeInstances.filter((i) => !gone.has(i.id));
  for (const i of model.nodeInstances)
    i.relationships = i.relationships.filter((r) => !gone.has(r.target_id));
}

export function applyEdits(
  model: DeploymentModel,
  nodeInstanceId: string,
  edits: SystemPropertyEdit[],
): void {
  const root = (model.nodeInstances.find((i) => i.id === nodeInstanceId)!.system_properties ??= {});
  for (const edit of edits) {
    if (edit.edit === 'copy') set(root, edit.to, get(root, edit.from));
    else if (edit.edit === 'set') set(root, edit.path, edit.value);
    else delete (get(root, edit.path.slice(0, -1)) as JsonObject)[edit.path.at(-1)!];
  }
}

function get(root: JsonObject, path: string[]): Json {
  return path.reduce<Json>((at, key) => (at as JsonObject)?.[key] ?? null, root);
}

function set(root: JsonObject, path: string[], value: Json): void {
  let at = root;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as JsonObject;
  at[path.at(-1)!] = value;
}
