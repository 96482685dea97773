import { readFileSync } from 'node:fs';
import { UsageFailure } from './failure';
import * as yaml from './yaml-value';

const EXPECTED = 'expected name=value, a file of names and values, or an object such as {"name": "value"}';

/**
 * Reads inputs or parameters: `name=value` (value read as YAML), a file of them, or an object in JSON or YAML. Later ones override
 * earlier ones.
 * @throws UsageFailure for a text that is none of these
 */
export function collectValues(items: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const item of items) {
    const at = item.indexOf('=');
    if (item.trimStart().startsWith('{')) Object.assign(values, objectOf(item, item));
    else if (at > 0) values[item.slice(0, at)] = yaml.parseValue(item.slice(at + 1));
    else Object.assign(values, objectOf(item, fileText(item)));
  }
  return values;
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageFailure(
      `${path}: ${isMissing ? 'there is no such file' : (cause as Error).message}; ${EXPECTED}`,
    );
  }
}

function objectOf(item: string, text: string): Record<string, unknown> {
  const value = yaml.parseValue(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UsageFailure(`${item}: ${EXPECTED}`);
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
