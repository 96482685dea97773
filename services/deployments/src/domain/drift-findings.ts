import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';

/** The result of a drift check of the instance itself, or of one of its relationships (reference/workflows.md 1.11). */
export interface DriftFinding {
  of: 'instance' | 'source_of_relationship' | 'target_of_relationship';
  /** The instance at the other end of the relationship. */
  other_instance_id: string | null;
  /** The check failed, and the result is its error: it is unknown whether anything differs. */
  is_check_failed: boolean;
  /** ISO 8601. */
  checked_at: string | null;
  /** The operation that checked; null: none did, as after an update that could not check. */
  task: string | null;
  /** Result of the check, unchanged. */
  result: Json;
  /** Values in the result that give the expected and the actual value. */
  changes: DriftChange[];
}

export interface DriftChange {
  /** Keys of the result that lead to the value; empty: the result itself. */
  path: string[];
  expected: Json;
  actual: Json;
}

const RELATIONSHIPS = [
  ['source_of_relationship', 'source_relationships_configuration_drift'],
  ['target_of_relationship', 'target_relationships_configuration_drift'],
] as const;

/** Returns every finding in the system properties of an instance that counts as drift, those of the instance itself first. */
export function driftFindings(system: JsonObject): DriftFinding[] {
  const own = finding('instance', null, system.configuration_drift);
  const others = RELATIONSHIPS.flatMap(([of, key]) =>
    Object.entries(isJsonObject(system[key]) ? system[key] : {}).flatMap(([id, check]) =>
      finding(of, id, check),
    ),
  );
  return [...own, ...others];
}

function finding(of: DriftFinding['of'], other: string | null, check: Json | undefined): DriftFinding[] {
  if (!isJsonObject(check) || !isDrift(check.result)) return [];
  const { ok, timestamp, task } = check;
  const result = check.result!;
  return [
    {
      of,
      other_instance_id: other,
      is_check_failed: ok === false,
      checked_at: typeof timestamp === 'string' ? timestamp : null,
      task: typeof task === 'string' ? task : null,
      result,
      changes: changesIn(result, []),
    },
  ];
}

/** Computes the same as the column `has_configuration_drift` (migrations/0001_deployments.sql), which looks into lists. */
function isDrift(result: Json | undefined): boolean {
  if (Array.isArray(result)) return result.some((one) => !Array.isArray(one) && isDrift(one));
  return result === true || typeof result === 'string' || typeof result === 'number' || isJsonObject(result);
}

/** Most levels of a result that are searched. */
const MAX_DEPTH = 16;

/** Finds objects with the members `expected` and `actual`, at any depth, and in a list those of TypeScript plugins. */
function changesIn(value: Json, path: string[]): DriftChange[] {
  if (Array.isArray(value) && path.length === 0) return value.flatMap(difference);
  if (!isJsonObject(value) || path.length > MAX_DEPTH) return [];
  const { expected, actual } = value;
  if (expected !== undefined && actual !== undefined) return [{ path, expected, actual }];
  return Object.entries(value).flatMap(([key, inner]) => changesIn(inner as Json, [...path, key]));
}

/** A difference as TypeScript plugins answer it: `{path, stored, present}`. */
function difference(value: Json): DriftChange[] {
  if (!isJsonObject(value) || typeof value.path !== 'string') return [];
  const { path, stored, present } = value;
  return stored === undefined || present === undefined
    ? []
    : [{ path: [path], expected: stored, actual: present }];
}
