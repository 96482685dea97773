import { isJsonObject } from './is-json-object';

/** Variables for a shell. Names that no shell can have are left out. */
export function environmentOf(values: unknown): Record<string, string> {
  if (!isJsonObject(values)) return {};
  const usable = Object.entries(values).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return Object.fromEntries(usable.map(([name, value]) => [name, textOf(value).replaceAll('\0', '')]));
}

/** As scripts of the worker get it: JSON for dictionaries, lists, true and false; `None` for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}
