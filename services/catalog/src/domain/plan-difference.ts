/**
 * Compares two plans of one blueprint, that of another manager and our own. What changes no deployment is left out: the order of members,
 * members that are null, and in definitions of types the texts for people, `required: true` (the default), and the folder of sources of
 * policies. The types that come with a manager differ in these.
 */
import { isJsonObject, type Json } from '@baton/kernel';

const DEFINITIONS: ReadonlySet<string> = new Set([
  'workflows',
  'policy_types',
  'policy_triggers',
  'relationships',
  'data_types',
]);
const LONGEST_PATH = 300;

const pathOf = (parts: readonly string[]): string =>
  parts.join('.').slice(0, LONGEST_PATH) || '(the whole plan)';

/** Path of the first place where two plans differ; null: they are the same. It names keys of the plans and no values. */
export function planDifference(
  a: Json | undefined,
  b: Json | undefined,
  path: readonly string[] = [],
): string | null {
  if (a === b || ((a ?? null) === null && (b ?? null) === null) || isForPeople(a, b, path)) return null;
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) {
      const found = planDifference(a[i], b[i], [...path, String(i)]);
      if (found !== null || i >= Math.min(a.length, b.length)) return found ?? pathOf([...path, String(i)]);
    }
    return null;
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return pathOf(path);
  for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
    const found = planDifference(a[key], b[key], [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

const isTextOrNone = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string';
const isTrueOrNone = (value: Json | undefined): boolean => (value ?? true) === true;
const fileOf = (value: Json | undefined): string => String(value).split('/').at(-1)!;

/** Whether a difference is one of those that change no deployment. Values of defaults are data, whatever their names. */
function isForPeople(a: Json | undefined, b: Json | undefined, path: readonly string[]): boolean {
  if (!DEFINITIONS.has(path[0] ?? '') || path.includes('default')) return false;
  const last = path.at(-1);
  if (last === 'description') return isTextOrNone(a) && isTextOrNone(b);
  if (last === 'required') return isTrueOrNone(a) && isTrueOrNone(b);
  return last === 'source' && path.length === 3 && path[0]!.startsWith('policy_') && fileOf(a) === fileOf(b);
}
