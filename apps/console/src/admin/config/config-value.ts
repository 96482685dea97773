/** Converts configuration values to form texts and back, by their schema. */
import type { ConfigItem } from '../../api/manager';

export interface ValueKind {
  kind: 'text' | 'number' | 'integer' | 'choice' | 'json';
  /** Only for `choice`. */
  choices: string[];
  minimum: number | null;
  maximum: number | null;
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Returns the kind of input for the value. A value without a schema is edited as JSON, unless it is a string. */
export function kindOf({ schema, value }: Pick<ConfigItem, 'schema' | 'value'>): ValueKind {
  const { type, enum: choices, minimum, maximum } = schema ?? {};
  const ends = { minimum: numberOf(minimum), maximum: numberOf(maximum) };
  if (Array.isArray(choices)) return { kind: 'choice', choices: choices.map(String), ...ends };
  if (type === 'boolean') return { kind: 'choice', choices: ['true', 'false'], ...ends };
  if (type === 'integer' || type === 'number') return { kind: type, choices: [], ...ends };
  const isText = type === 'string' || (schema === null && typeof value === 'string');
  return { kind: isText ? 'text' : 'json', choices: [], ...ends };
}

/** Returns the value as an editable text; a missing value is an empty text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export type ParsedValue = { value: unknown } | { fault: 'number' | 'integer' | 'json' };

/** Parses the text into a value for the API. */
export function parseValue({ kind, choices }: ValueKind, text: string): ParsedValue {
  if (kind === 'text') return { value: text };
  if (kind === 'choice') return { value: choices.includes('true') ? text === 'true' : text };
  if (kind === 'integer') return /^-?\d{1,15}$/.test(text.trim()) ? { value: Number(text) } : { fault: kind };
  if (kind === 'number')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? { value: Number(text) } : { fault: kind };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: 'json' };
  }
}

/** Returns the items of the scope whose names contain `text`; undefined means no restriction. */
export const chosenItems = (
  items: readonly ConfigItem[],
  scope: string | undefined,
  text: string | undefined,
): ConfigItem[] =>
  items.filter(
    (item) => (!scope || item.scope === scope) && (!text || item.name.includes(text.toLowerCase())),
  );
