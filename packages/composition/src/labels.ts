import { isJsonObject, type Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';

export type Labels = Record<string, string>[];

/**
 * Reads labels as blueprints write them: [{key: value}, ...].
 * @throws FatalError in the words of the reference; `what`: "" or "deployment ".
 */
export function labelsOf(value: unknown, what = ''): Labels {
  const labels = value ?? [];
  if (Array.isArray(labels) && labels.every((label) => isSingle(label))) return labels as Labels;
  throw new FatalError(
    `The provided ${what}labels are not valid. Labels must be a list of single-entry dicts, ` +
      `e.g. [{'foo': 'bar'}]. This value was provided: ${JSON.stringify(labels)}.`,
  );
}

function isSingle(label: unknown): boolean {
  return isJsonObject(label as Json) && Object.keys(label as object).length === 1;
}

/** Returns the labels with `key` set to one value; earlier values are replaced. */
export function withLabel(labels: Labels, key: string, value: string): Labels {
  const others = labels.filter((label) => !(key in label));
  return [...others, { [key]: value }];
}

/** Returns the values of a label in an API response. */
export function labelValues(labels: readonly { key: string; value: string }[], key: string): string[] {
  return labels.filter((label) => label.key === key).map((label) => label.value);
}
