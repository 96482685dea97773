/** The references of a plan to other resources of the catalog, and its labels. Pure. */
import { type LabelPair, labelError, parseLabels } from '@baton/contracts';
import { isJsonObject, type JsonObject } from '@baton/kernel';

export interface PlanUse {
  kind: 'plugin' | 'blueprint';
  name: string;
  version: string;
}

const lists = [
  'deployment_plugins_to_install',
  'workflow_plugins_to_install',
  'host_agent_plugins_to_install',
];

function pluginsOf(plan: JsonObject): unknown[] {
  const nodes = Array.isArray(plan.nodes) ? plan.nodes : [];
  const ofNodes = nodes.flatMap((n) => (isJsonObject(n) && Array.isArray(n.plugins) ? n.plugins : []));
  return [...lists.flatMap((key) => (Array.isArray(plan[key]) ? (plan[key] as unknown[]) : [])), ...ofNodes];
}

/** Returns the plugins (by package) and blueprints that the plan needs; they cannot be deleted without force. */
export function planUses(plan: JsonObject): PlanUse[] {
  const uses = new Map<string, PlanUse>();
  const add = (use: PlanUse): void => void uses.set(JSON.stringify(use), use);
  for (const plugin of pluginsOf(plan)) {
    if (!isJsonObject(plugin) || typeof plugin.package_name !== 'string') continue;
    add({ kind: 'plugin', name: plugin.package_name, version: String(plugin.package_version ?? '') });
  }
  const imported = Array.isArray(plan.imported_blueprints) ? plan.imported_blueprints : [];
  for (const id of imported) if (typeof id === 'string') add({ kind: 'blueprint', name: id, version: '' });
  return [...uses.values()];
}

/** Turns numbers and booleans into strings: YAML reads `1` and `true` as such, but labels are strings. */
const asText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;

/** Returns the labels that the plan's `blueprint_labels` give the blueprint. @throws AppError bad_parameters_error */
export function planLabels(plan: JsonObject): LabelPair[] {
  const given = isJsonObject(plan.blueprint_labels) ? plan.blueprint_labels : {};
  const members = Object.entries(given).map(([key, label]) => ({
    [key]: [...new Set(isJsonObject(label) && Array.isArray(label.values) ? label.values.map(asText) : [])],
  }));
  const labels = parseLabels(members, 'blueprint_labels');
  if (!labels.ok) throw labelError(labels.error);
  return labels.value;
}
