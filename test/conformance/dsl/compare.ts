type Value = unknown;

/** Returns the first place where two values differ, or null. Objects are compared in any key order, lists in order. */
export function difference(actual: Value, expected: Value, path = ''): string | null {
  if (Object.is(actual, expected) || actual === expected) return null;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null)
    return report(actual, expected, path);
  if (Array.isArray(actual) !== Array.isArray(expected)) return report(actual, expected, path);
  if (Array.isArray(actual) && Array.isArray(expected)) {
    for (let i = 0; i < Math.max(actual.length, expected.length); i++) {
      if (i >= actual.length || i >= expected.length)
        return `${path}: ${actual.length} items, expected ${expected.length}`;
      const found = difference(actual[i], expected[i], `${path}[${i}]`);
      if (found) return found;
    }
    return null;
  }
  const a = actual as Record<string, Value>;
  const b = expected as Record<string, Value>;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const at = path === '' ? key : `${path}.${key}`;
    if (!Object.hasOwn(a, key)) return `${at}: missing, expected ${show(b[key])}`;
    if (!Object.hasOwn(b, key)) return `${at}: unexpected ${show(a[key])}`;
    const found = difference(a[key], b[key], at);
    if (found) return found;
  }
  return null;
}

function report(actual: Value, expected: Value, path: string): string {
  return `${path}: ${show(actual)}, expected ${show(expected)}`;
}

function show(value: Value): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** Returns a copy in which the members of groups are sorted: their order is not significant. */
export function sortMembers(value: Value): Value {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      key,
      key === 'members' && Array.isArray(v) && v.every((m) => typeof m === 'string')
        ? [...v].sort()
        : sortMembers(v),
    ]),
  );
}
