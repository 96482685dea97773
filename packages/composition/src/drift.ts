import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { labelsOf } from './labels';

type ShownLabels = readonly { key: string; value: string }[] | null | undefined;

/** Keys whose values differ; what is no object counts as empty. */
export function differingKeys(a: Json | undefined, b: Json | undefined): string[] {
  const [one, other] = [a, b].map((value) => (isJsonObject(value as Json) ? (value as JsonObject) : {}));
  const keys = new Set([...Object.keys(one!), ...Object.keys(other!)]);
  return [...keys].filter((key) => !isDeepStrictEqual(one![key], other![key])).sort();
}

/** `key=value` of labels that are not the manager's own. */
function shown(labels: ShownLabels): string[] {
  const own = (labels ?? []).filter(({ key }) => !key.startsWith('csys-'));
  return own.map(({ key, value }) => `${key}=${value}`);
}

function wanted(labels: unknown): string[] {
  return labelsOf(labels)
    .flatMap((label) => Object.entries(label))
    .map(([key, value]) => `${key}=${value}`);
}

/** Whether one is missing that the node asks for. Others may be there: an update only adds, so it could not cure them. */
function haveLabelsDrifted(spec: unknown, labels: ShownLabels): boolean {
  const present = new Set(shown(labels));
  return wanted(spec).some((label) => !present.has(label));
}

/** Which of id, labels and inputs of a component's deployment are not as its node says (reference/workflows.md 8.1). */
export function deploymentDrift(
  spec: { id?: string; auto_inc_suffix?: boolean; labels?: unknown; inputs?: unknown },
  deployment: { id: string; labels?: ShownLabels; inputs: unknown },
): string[] {
  // <id>-<number>
  const id = spec.auto_inc_suffix ? deployment.id.replace(/-[^-]*$/, '') : deployment.id;
  const inputs = spec.inputs as Json;
  return [
    ...(spec.id && spec.id !== id ? ['id'] : []),
    ...(haveLabelsDrifted(spec.labels, deployment.labels) ? ['labels'] : []),
    ...(isJsonObject(inputs) &&
    Object.keys(inputs).length > 0 &&
    !isDeepStrictEqual(inputs, deployment.inputs)
      ? ['inputs']
      : []),
  ];
}

/** The same of its blueprint: id and labels. */
export function blueprintDrift(
  spec: { id?: string; labels?: unknown },
  blueprint: { id: string; labels?: ShownLabels },
): string[] {
  return [
    ...(spec.id && spec.id !== blueprint.id ? ['id'] : []),
    ...(haveLabelsDrifted(spec.labels, blueprint.labels) ? ['labels'] : []),
  ];
}

/** The result of check_drift: what has drifted, or null. */
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

/** What an update of a component has to do about its drift. */
export interface UpdatePlan {
  /** Why it cannot be done; null: it can. */
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
