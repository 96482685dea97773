import type { Difference } from '@baton/plugin-sdk';
import { dictOf, isDict, type KubeObject } from '../client/kube-object';

/** What servers make, or what changes without anybody wanting it. */
const SERVER_MADE = new Set([
  ...[
    'managedFields',
    'resourceVersion',
    'generation',
    'uid',
    'creationTimestamp',
    'selfLink',
    'deletionTimestamp',
  ],
  'deletionGracePeriodSeconds',
]);
const MAX_DIFFERENCES = 200;
const HIDDEN = '********';

type Json = Difference['stored'];

/**
 * What an apply of the declared object would change: `stored` is the declared value, `present` the value in the cluster; null: there
 * is none. `declared` is the answer of an apply without an effect, so defaults of the server and fields of others are no difference.
 */
export function differencesOf(declared: KubeObject, present: KubeObject, prefix: string): Difference[] {
  const found: Difference[] = [];
  compare(comparable(declared), comparable(present), prefix, found);
  if (declared.kind !== 'Secret') return found;
  return found.map((one) => (/\.(data|stringData)(\.|$)/.test(one.path) ? hidden(one) : one));
}

/** Values of secrets are not shown; that they differ is. */
const hidden = ({ path, stored, present }: Difference): Difference => ({
  path,
  stored: stored === null ? null : HIDDEN,
  present: present === null ? null : `${HIDDEN} (another value)`,
});

function comparable({ metadata, status: _, ...rest }: KubeObject): Record<string, unknown> {
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVER_MADE.has(name))),
  };
}

function compare(declared: unknown, present: unknown, path: string, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES || isSame(declared, present)) return;
  if (isDict(declared) && isDict(present)) {
    for (const name of new Set([...Object.keys(declared), ...Object.keys(present)]))
      compare(declared[name], present[name], `${path}.${name}`, found);
    return;
  }
  if (Array.isArray(declared) && Array.isArray(present) && declared.length === present.length) {
    declared.forEach((item, i) => compare(item, present[i], `${path}[${i}]`, found));
    return;
  }
  found.push({ path, stored: (declared ?? null) as Json, present: (present ?? null) as Json });
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [left, right] = [dictOrList(a), dictOrList(b)];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Array.isArray(a) === Array.isArray(b) && [...names].every((name) => isSame(left[name], right[name]));
}

const dictOrList = (value: object): Record<string, unknown> =>
  Array.isArray(value) ? Object.fromEntries(value.map((item, i) => [String(i), item])) : dictOf(value);
