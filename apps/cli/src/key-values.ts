import { readFileSync } from 'node:fs';
import { UsageFailure } from './failure';
import * as yaml from './yaml-value';

/** Reads inputs or parameters: `name=value` (value read as YAML), or a file of them. Later ones override earlier ones. */
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
  throw new UsageFailure(`${path}: expected a file of names and values, or name=value`);
}

/** Converts `key=value` texts into labels. */
export function collectLabels(items: readonly string[]): Record<string, string>[] {
  return items.map((item) => {
    const at = item.indexOf('=');
    if (at <= 0) throw new UsageFailure(`label "${item}": expected key=value`);
    return { [item.slice(0, at)]: item.slice(at + 1) };
  });
}

/** Converts `key=value` texts into an object of texts. @param name the option, for the error */
export function collectTexts(name: string, items: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    items.map((item) => {
      const at = item.indexOf('=');
      if (at <= 0) throw new UsageFailure(`${name} ${item}: expected key=value`);
      return [item.slice(0, at), item.slice(at + 1)];
    }),
  );
}
