import { readFileSync } from 'node:fs';
import * as yaml from './yaml-value';

/** Inputs or parameters: `name=value` (value read as YAML), or a file of them. Later ones win. */
export function collectValues(items: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const item of items) {
    const at = item.indexOf('=');
    if (at > 0) values[item.slice(0, at)] = yaml.parseValue(item.slice(at + 1));
    else Object.assign(values, fileValues(item));
  }
  return values;
}

function fileValues(path: string): Record<string, unknown> {
  const value = yaml.parseValue(readFileSync(path, 'utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error(`${path}: expected a file of names and values, or name=value`);
}

/** For commander: gathers a repeated option. */
export function gather(value: string, before: string[]): string[] {
  return [...before, value];
}

/** `key=value` texts as labels. */
export function collectLabels(items: readonly string[]): Record<string, string>[] {
  return items.map((item) => {
    const at = item.indexOf('=');
    if (at <= 0) throw new Error(`label "${item}": expected key=value`);
    return { [item.slice(0, at)]: item.slice(at + 1) };
  });
}
