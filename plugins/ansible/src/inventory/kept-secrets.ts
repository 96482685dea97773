import { createHash } from 'node:crypto';
import type { BaseScope } from '@baton/plugin-sdk';
import type { Place } from '../settings/place';
import { isSensitive } from '../settings/sensitive-values';
import { readNode } from './manager-reads';

/** Runtime property: names of secrets that the plugin made for a node instance. */
const KEPT = 'ansible_secrets';

type Dict = Record<string, unknown>;

/**
 * Puts the sensitive texts inside of a value into secrets of the tenant, and references to them into their places: every user of
 * the tenant reads runtime properties. The names of the secrets are stored first, so that `forgetSecrets` removes them also when the
 * process dies in between. `key`: where the value belongs, a part of the names.
 */
export async function withReferences(
  scope: BaseScope,
  { instance }: Pick<Place, 'instance'>,
  value: unknown,
  key: string,
  sensitiveKeys: readonly string[],
): Promise<unknown> {
  const found: { name: string; text: string }[] = [];
  const base = baseOf(scope, instance.id);
  const take: Replacement = (path, text) => {
    const name = nameOf(base, path);
    found.push({ name, text });
    return { get_secret: name };
  };
  const replaced = replace(value, [key], take, sensitiveKeys);
  if (found.length === 0) return replaced;
  const names = new Set([...namesOf(instance.runtimeProperties), ...found.map(({ name }) => name)]);
  instance.runtimeProperties = { ...instance.runtimeProperties, [KEPT]: [...names] };
  await instance.update();
  for (const { name, text } of found) {
    scope.hide(text);
    await scope.manager().put(addressOf(name), { json: { value: text, update_if_exists: true } });
  }
  return replaced;
}

const MAX_NAME = 200;

const plain = (text: string): string => text.replace(/[^\w.-]/g, '_');
const baseOf = ({ ctx }: BaseScope, instanceId: string): string =>
  plain(`ansible-${ctx.deployment.id}-${instanceId}`);

/** The digest keeps names apart that are the same without other characters, or at their beginning. */
function nameOf(base: string, [key = '', ...path]: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(path)).digest('hex').slice(0, 8);
  const shown = `${base}-${plain(key)}-${plain(path.at(-1) ?? '')}`.slice(0, MAX_NAME);
  return `${shown}-${digest}`;
}

type Replacement = (path: readonly string[], text: string) => unknown;

function replace(value: unknown, path: readonly string[], by: Replacement, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((inner, at) => replace(inner, [...path, String(at)], by, keys));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const at = [...path, name];
      if (!isSensitive(name, inner, keys)) return [name, replace(inner, at, by, keys)];
      return [name, replaceAll(inner, at, by)];
    }),
  );
}

/** Everything below the name of a sensitive value is sensitive. A number becomes a text by this. */
function replaceAll(value: unknown, path: readonly string[], by: Replacement): unknown {
  if (isReference(value) || value === null || value === '' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((inner, at) => replaceAll(inner, [...path, String(at)], by));
  if (typeof value !== 'object') return by(path, String(value));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replaceAll(inner, [...path, name], by)]),
  );
}

const isReference = (value: unknown): value is Dict =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === 1 &&
  ['get_secret', 'get_property'].includes(Object.keys(value)[0]!);

/** Removes the secrets that were made for the instance; with `key` those that were made for that value. */
export async function forgetSecrets(
  scope: BaseScope,
  { instance }: Pick<Place, 'instance'>,
  key?: string,
): Promise<void> {
  const base = baseOf(scope, instance.id);
  for (const name of namesOf(instance.runtimeProperties))
    if (key === undefined || name.startsWith(`${base}-${plain(key)}-`))
      await scope.manager().delete(addressOf(name), { missingOk: true });
}

/** Replaces references by what they refer to, and hides it. */
export async function resolved(scope: BaseScope, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const inner of value) items.push(await resolved(scope, inner));
    return items;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isReference(value)) {
    const found = await referred(scope, value as Dict);
    scope.hide(found);
    return found;
  }
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) entries.push([name, await resolved(scope, inner)]);
  return Object.fromEntries(entries);
}

async function referred(
  scope: BaseScope,
  { get_secret: secret, get_property: property }: Dict,
): Promise<unknown> {
  if (typeof secret === 'string')
    return (await scope.manager().get<{ value: string }>(addressOf(secret))).value;
  const [node, ...path] = Array.isArray(property) ? property.map(String) : [];
  const found = node === undefined ? null : await readNode(scope, node);
  return (
    path.reduce<unknown>((value, name) => (value as Dict | undefined)?.[name], found?.properties) ?? null
  );
}

const namesOf = (runtime: Readonly<Dict>): string[] =>
  Array.isArray(runtime[KEPT]) ? runtime[KEPT].filter((name) => typeof name === 'string') : [];

const addressOf = (name: string): string => `/secrets/${encodeURIComponent(name)}`;
