import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { labelsOf } from './labels';

type ShownLabels = readonly { key: string; value: string }[] | null | undefined;

/** Returns the keys with different values; a value that is not an object counts as empty. */
export function differingKeys(a: Json | undefined, b: Json | undefined): string[] {
  const [one, other] = [a, b].map((value) => (isJsonObject(value as Json) ? (value as JsonObject) : {}));
  const keys = new Set([...Object.keys(one!), ...Object.keys(other!)]);
  return [...keys].filter((key) => !isDeepStrictEqual(one![key], other![key])).sort();
}

/** Returns `key=value` of each label, without the manager's own labels. */
function shown(labels: ShownLabels): string[] {
  const own = (labels ?? []).filter(({ key }) => !key.startsWith('csys-'));
  return own.map(({ key, value }) => `${key}=${value}`);
}

function wanted(labels: unknown): string[] {
  return labelsOf(labels)
    .flatMap((label) => Object.entries(label))
    .map(([key, value]) => `${key}=${value}`);
}

/**
 * Whether a label of the node is missing. Additional labels do not count: an update only adds labels, so it could not
 * remove them.
 */
function haveLabelsDrifted(spec: unknown, labels: ShownLabels): boolean {
  const present = new Set(shown(labels));
  return wanted(spec).some((label) => !present.has(label));
}

/** Whether an input of the node has another value. The others have the defaults of their blueprint. */
function haveInputsDrifted(spec: Json, inputs: Json): boolean {
  if (!isJsonObject(spec)) return false;
  const present = isJsonObject(inputs) ? inputs : {};
  return Object.entries(spec).some(([name, value]) => !isDeepStrictEqual(value, present[name]));
}

/** Returns which of id, labels and inputs of a component's deployment differ from its node (reference/workflows.md 8.1). */
export function deploymentDrift(
  spec: { id?: string; auto_inc_suffix?: boolean; labels?: unknown; inputs?: unknown },
  deployment: { id: string; labels?: ShownLabels; inputs: unknown },
): string[] {
  // <id>-<number>
  const id = spec.auto_inc_suffix ? deployment.id.replace(/-[^-]*$/, '') : deployment.id;
  return [
    ...(spec.id && spec.id !== id ? ['id'] : []),
    ...(haveLabelsDrifted(spec.labels, deployment.labels) ? ['labels'] : []),
    ...(haveInputsDrifted(spec.inputs as Json, deployment.inputs as Json) ? ['inputs'] : []),
  ];
}

/** The same for its blueprint: id and labels. */
export function blueprintDrift(
  spec: { id?: string; labels?: unknown },
  blueprint: { id: string; labels?: ShownLabels },
): string[] {
  return [
    ...(spec.id && spec.id !== blueprint.id ? ['id'] : []),
    ...(haveLabelsDrifted(spec.labels, blueprint.labels) ? ['labels'] : []),
  ];
}

/** The result of check_drift: the drifted parts, or null. */
export function driftResult(parts: {
  hasClient: boolean;
  capabilities: string[];
  deployment: string[];
  blueprint: string[];
}): JsonObject | null {
  const { hasClient, ...lists } = parts;
  const drift = Object.fromEntries(Object.entries(lists).filter(([, keys]) => keys.length > 0));
  const result = { ...(hasClient ? { client: true } : {}), ...drift };
  return Object.keys(result).length > 0 ? result : null;
}

/** The steps with which an update of a component removes its drift. */
export interface UpdatePlan {
  /** Reason why the update is not possible; null: it is possible. */
  refusal: string | null;
  /** Whether blueprint or inputs change, i.e. a deployment update is needed. */
  hasBlueprint: boolean;
  hasInputs: boolean;
  hasLabels: boolean;
}

/** `drift`: the stored result of check_drift. */
export function updatePlan(drift: Json | undefined, deploymentId: string): UpdatePlan {
  const read: JsonObject = isJsonObject(drift as Json) ? (drift as JsonObject) : {};
  const has = (part: string, key: string): boolean => {
    const keys = read[part];
    return Array.isArray(keys) && keys.includes(key);
  };
  const because = read.client ? 'client drift' : has('deployment', 'id') ? 'deployment_id change' : null;
  return {
    refusal: because && `Update not available for "${deploymentId}" because of ${because}`,
    hasBlueprint: has('blueprint', 'id'),
    hasInputs: has('deployment', 'inputs'),
    hasLabels: has('deployment', 'labels'),
  };
}
