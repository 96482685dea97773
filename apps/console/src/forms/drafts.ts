/** The unfinished content of a form (drafts), and the values that it stands for. */
import { canonicalJson } from '@baton/kernel';
import { t } from '../text/text';
import type { FieldSpec, ListField, PartsField } from './field-spec';
import { textOfValue } from './field-spec';

/**
 * Draft of one field. Undefined: nothing was entered, so the default applies. A single value is a text; a list has a draft per
 * item; a data type has a draft per property. A list or data type that was entered as JSON is a text, too.
 */
export type Draft = undefined | string | Draft[] | { [part: string]: Draft };
export type Drafts = Readonly<Record<string, Draft>>;
export type Values = Record<string, unknown>;
/** Errors by the path of the field: `port`, `disk.size`, `hosts[1]`. */
export type Errors = Readonly<Record<string, string>>;

/** Whether the manager treats two values as equal. */
export const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** Returns the initial drafts of a form: the given values, else the defaults. */
export const draftsOf = (fields: readonly FieldSpec[], given: Readonly<Values> = {}): Drafts =>
  Object.fromEntries(
    fields.map((field) => [
      field.name,
      draftOf(field, Object.hasOwn(given, field.name) ? given[field.name] : field.default),
    ]),
  );

/** Converts a value into a draft; into JSON when it does not fit the field. */
export function draftOf(field: FieldSpec, value: unknown): Draft {
  if (value === undefined || value === null) return undefined;
  if (field.control === 'list' && Array.isArray(value)) return value.map((item) => draftOf(field.item, item));
  if (field.control === 'parts' && fitsParts(field, value))
    return Object.fromEntries(field.parts.map((part) => [part.name, draftOf(part, value[part.name])]));
  return textOfValue(value);
}

function fitsParts(field: PartsField, value: unknown): value is Values {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).every((name) => field.parts.some((part) => part.name === name));
}

/** Returns the values of a form and the errors that its texts alone show. Values equal to their defaults are left out. */
export function readDrafts(
  fields: readonly FieldSpec[],
  drafts: Drafts,
): { values: Values; errors: Record<string, string> } {
  const errors: Record<string, string> = {};
  const values: Values = {};
  for (const field of fields) {
    const value = readDraft(field, drafts[field.name], field.name, errors);
    if (value !== undefined && !(field.default !== undefined && isSame(value, field.default)))
      values[field.name] = value;
  }
  return { values, errors };
}

type Found = Record<string, string>;

/** Reads one draft; undefined: the value is left out. */
function readDraft(field: FieldSpec, draft: Draft, path: string, errors: Found): unknown {
  if (Array.isArray(draft) && field.control === 'list') return readItems(field, draft, path, errors);
  if (
    field.control === 'parts' &&
    (draft === undefined || (typeof draft === 'object' && !Array.isArray(draft)))
  )
    // If all properties have defaults, nothing needs to be entered.
    return field.default === undefined || draft ? readParts(field, draft ?? {}, path, errors) : undefined;
  const text = typeof draft === 'string' ? draft : '';
  if (text === '' || (field.type !== 'string' && text.trim() === '')) {
    // A user who clears the text of a default wants an empty text.
    if (draft === '' && field.type === 'string' && typeof field.default === 'string') return '';
    if (field.isRequired) errors[path] = t.forms.errors.required;
    return undefined;
  }
  const reading = readText(field, text);
  if ('error' in reading) errors[path] = reading.error;
  else return reading.value;
  return undefined;
}

function readItems(field: ListField, items: Draft[], path: string, errors: Found): unknown[] {
  const item = { ...field.item, isRequired: true };
  return items.map((draft, i) => readDraft(item, draft, `${path}[${i}]`, errors));
}

function readParts(
  field: PartsField,
  draft: { [part: string]: Draft },
  path: string,
  errors: Found,
): unknown {
  const isEmpty = field.parts.every((part) => isUnwritten(draft[part.name]));
  if (isEmpty && !field.isRequired) return undefined;
  const value: Values = {};
  for (const part of field.parts) {
    const of = readDraft(part, draft[part.name], `${path}.${part.name}`, errors);
    if (of !== undefined) value[part.name] = of;
  }
  return value;
}

const isUnwritten = (draft: Draft): boolean =>
  draft === undefined ||
  draft === '' ||
  (typeof draft === 'object' && !Array.isArray(draft) && Object.values(draft).every(isUnwritten));

type Reading = { value: unknown } | { error: string };

function readText(field: FieldSpec, text: string): Reading {
  const { errors } = t.forms;
  const trimmed = text.trim();
  if (field.control === 'choice') {
    const chosen = field.choices.find((choice) => choice.text === text);
    return chosen ?? { error: errors.valid_values(field.choices.map((choice) => choice.text).join(', ')) };
  }
  if (field.type === 'integer')
    return /^[+-]?\d+$/.test(trimmed) ? { value: Number(trimmed) } : { error: errors.integer };
  if (field.type === 'float')
    return Number.isFinite(Number(trimmed)) ? { value: Number(trimmed) } : { error: errors.float };
  if (field.control === 'pick' || field.control === 'area') return { value: text };
  if (field.control === 'text' && field.type !== 'any') return { value: text };
  return readJson(field, trimmed, text);
}

function readJson(field: FieldSpec, trimmed: string, text: string): Reading {
  const { errors } = t.forms;
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    // Values of type `any` may be plain texts.
    return field.control === 'text' ? { value: text } : { error: errors.json };
  }
  const isList = Array.isArray(value);
  const isObject = typeof value === 'object' && value !== null && !isList;
  if (field.type === 'list' && !isList) return { error: errors.list };
  if ((field.type === 'dict' || field.control === 'parts') && !isObject) return { error: errors.dict };
  return { value };
}
