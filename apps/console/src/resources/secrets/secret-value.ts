/** Input forms for the value of a secret: a text, fields of a flat JSON schema, or JSON. */
import { t } from '../../text/text';

export interface ValueField {
  name: string;
  label: string;
  hint: string | null;
  type: 'string' | 'number' | 'integer' | 'boolean';
  /** Values of an `enum`; empty: any value. */
  choices: string[];
  isRequired: boolean;
}
export type ValueForm = { kind: 'text' } | { kind: 'json' } | { kind: 'fields'; fields: ValueField[] };

type Schema = Record<string, unknown>;
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];
/** A schema with more fields is entered as JSON. */
const MOST_FIELDS = 20;

/** Returns the form for a value of this schema; null: any text. */
export function valueFormOf(schema: Schema | null): ValueForm {
  if (schema === null) return { kind: 'text' };
  const properties = schema.type === 'object' && isSchema(schema.properties) ? schema.properties : {};
  const entries = Object.entries(properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const isFlat =
    entries.length > 0 &&
    entries.length <= MOST_FIELDS &&
    entries.every(([, one]) => isSchema(one) && SCALARS.includes(one.type));
  if (!isFlat) return { kind: 'json' };
  return {
    kind: 'fields',
    fields: entries.map(([name, one]) => fieldOf(name, one as Schema, required.includes(name))),
  };
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOr = <Else>(value: unknown, otherwise: Else): string | Else =>
  typeof value === 'string' && value !== '' ? value : otherwise;

function fieldOf(name: string, schema: Schema, isRequired: boolean): ValueField {
  return {
    name,
    label: textOr(schema.title, name),
    hint: textOr(schema.description, null),
    type: schema.type as ValueField['type'],
    choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
    isRequired,
  };
}

export type ReadValue = { errors: Record<string, string>; value: unknown };

/** Returns the entered value. `texts` are by field name; text and JSON stand under `value`. */
export function readValue(form: ValueForm, texts: Readonly<Record<string, string>>): ReadValue {
  const text = texts.value ?? '';
  if (form.kind === 'text')
    return text === '' ? { errors: { value: t.secrets.noValue }, value: null } : { errors: {}, value: text };
  if (form.kind === 'json') return readJson('value', text);
  const errors: Record<string, string> = {};
  const value: Record<string, unknown> = {};
  for (const field of form.fields) {
    const entered = texts[field.name] ?? '';
    if (entered === '') {
      if (field.isRequired) errors[field.name] = t.secrets.required;
      continue;
    }
    const read = readField(field, entered);
    if (read === null) errors[field.name] = t.secrets.notA[field.type];
    else value[field.name] = read;
  }
  return { errors, value };
}

function readField({ type }: ValueField, text: string): unknown {
  if (type === 'string') return text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : null;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) return null;
  return type === 'number' || Number.isInteger(number) ? number : null;
}

/** Parses typed JSON. The error message quotes no part of the text, which may be secret. */
function readJson(field: string, text: string): ReadValue {
  try {
    return { errors: {}, value: JSON.parse(text) as unknown };
  } catch {
    return { errors: { [field]: t.secrets.noJson }, value: null };
  }
}

/** Parses a typed JSON schema. */
export function readSchema(text: string): { errors: Record<string, string>; schema: Schema | null } {
  const { errors, value } = readJson('schema', text);
  if (Object.keys(errors).length > 0 || isSchema(value)) return { errors, schema: value as Schema | null };
  return { errors: { schema: t.secrets.noJson }, schema: null };
}
