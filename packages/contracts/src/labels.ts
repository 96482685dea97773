/**
 * Labels in requests and in their stored form (reference/rest-api.md 4.2). Pure: the services that own labelled
 * resources (blueprints, deployments) parse with this module and have their own tables.
 */
import { AppError, err, nearestName, ok, type Result } from '@baton/kernel';

export interface LabelPair {
  /** Lower case. */
  key: string;
  /** NFKC-normalised. */
  value: string;
}

/** The fault of a label and its place: `labels[2]`. */
export interface LabelFault {
  field: string;
  message: string;
  expected: string;
  nearest?: string;
}

const MAX_LABEL_LENGTH = 256;
const RESERVED_LABEL_PREFIX = 'csys-';

/** Existing reserved keys. Users may set all of them except csys-consumer-id, which the manager computes. */
export const reservedLabelKeys = [
  'csys-obj-name',
  'csys-obj-type',
  'csys-env-type',
  'csys-wrcp-services',
  'csys-wrcp-group-id',
  'csys-location-name',
  'csys-location-lat',
  'csys-location-long',
  'csys-obj-parent',
  'csys-environment',
  'csys-consumer-id',
] as const;

const KEY = /^[A-Za-z][A-Za-z0-9._~-]*$/;
// Control, format, surrogate, private-use and unassigned characters.
const FORBIDDEN_IN_VALUE = /[\p{C}"]/u;
const DECIMAL = /^[+-]?\d{1,3}(\.\d+)?$/;
const COORDINATE_LIMITS: Record<string, number> = { 'csys-location-lat': 90, 'csys-location-long': 180 };

/** Returns the stored form of a label key, or the reason for its refusal. Reserved keys are not checked here. */
export function normalizeLabelKey(raw: unknown): Result<string, string> {
  if (typeof raw !== 'string' || raw === '') return err('a label key must be a text that is not empty');
  if (raw.length > MAX_LABEL_LENGTH) return err(`a label key has at most ${MAX_LABEL_LENGTH} characters`);
  if (!KEY.test(raw))
    return err(
      `the label key "${raw}" must start with an ASCII letter and hold only letters, digits, "-", ".", "_"`,
    );
  return ok(raw.toLowerCase());
}

/** Returns the stored form of a label value, or the reason for its refusal. The empty text is a valid value. */
export function normalizeLabelValue(key: string, raw: unknown): Result<string, string> {
  if (typeof raw !== 'string') return err(`the value of label "${key}" must be a text`);
  const value = raw.normalize('NFKC');
  if (value.length > MAX_LABEL_LENGTH)
    return err(`the value of label "${key}" is longer than ${MAX_LABEL_LENGTH} characters`);
  if (FORBIDDEN_IN_VALUE.test(value))
    return err(`the value of label "${key}" holds a control character or a double quote`);
  return ok(key === 'csys-obj-type' ? value.toLowerCase() : value);
}

function checkReserved(key: string, value: string): Omit<LabelFault, 'field'> | null {
  if (!key.startsWith(RESERVED_LABEL_PREFIX)) return null;
  const settable = reservedLabelKeys.filter((k) => k !== 'csys-consumer-id');
  if (!settable.some((k) => k === key)) {
    const nearest = nearestName(key, settable);
    const fault = {
      message: `the label key "${key}" is reserved`,
      expected: `one of ${settable.join(', ')}`,
    };
    return nearest === null ? fault : { ...fault, nearest };
  }
  const limit = COORDINATE_LIMITS[key];
  if (limit !== undefined && (!DECIMAL.test(value) || Math.abs(Number(value)) > limit)) {
    return {
      message: `the value of label "${key}" is not a coordinate`,
      expected: `a decimal number in -${limit}..${limit}`,
    };
  }
  return null;
}

/** Checks one label against every rule of the reference. */
export function checkLabel(rawKey: unknown, rawValue: unknown, field: string): Result<LabelPair, LabelFault> {
  const key = normalizeLabelKey(rawKey);
  if (!key.ok) return err({ field, message: key.error, expected: 'a label key' });
  const value = normalizeLabelValue(key.value, rawValue);
  if (!value.ok) return err({ field, message: value.error, expected: 'a label value' });
  const reserved = checkReserved(key.value, value.value);
  return reserved === null ? ok({ key: key.value, value: value.value }) : err({ field, ...reserved });
}

const SHAPE = '[{<key>: <value or list of values>}, ...]';

/** Returns key and values of one member of a request's label list: `{key: value}` or the upload shape `{key, value, ...}`. */
function readMember(member: unknown): { key: string; values: unknown[] } | null {
  if (typeof member !== 'object' || member === null || Array.isArray(member)) return null;
  const entries = Object.entries(member);
  const uploaded = member as { key?: unknown; value?: unknown };
  if (entries.length > 1 && typeof uploaded.key === 'string' && typeof uploaded.value === 'string') {
    const known = entries.every(([k]) => ['key', 'value', 'created_at', 'created_by'].includes(k));
    return known ? { key: uploaded.key, values: [uploaded.value] } : null;
  }
  const only = entries.length === 1 ? entries[0]! : null;
  return only === null ? null : { key: only[0], values: Array.isArray(only[1]) ? only[1] : [only[1]] };
}

/**
 * Parses the labels of a request body (reference 4.2): labels are normalised, and a duplicate label is refused.
 * `field`: name of the list in messages.
 */
export function parseLabels(input: unknown, field = 'labels'): Result<LabelPair[], LabelFault> {
  if (!Array.isArray(input)) return err({ field, message: `${field} must be a list`, expected: SHAPE });
  const labels: LabelPair[] = [];
  const seen = new Set<string>();
  for (const [index, member] of input.entries()) {
    const at = `${field}[${index}]`;
    const read = readMember(member);
    if (read === null)
      return err({ field: at, message: `${at} is not an object with exactly one label`, expected: SHAPE });
    for (const raw of read.values) {
      const label = checkLabel(read.key, raw, at);
      if (!label.ok) return label;
      const identity = `${label.value.key}=${label.value.value}`;
      if (seen.has(identity))
        return err({
          field: at,
          message: `the label ${identity} is given twice`,
          expected: 'each label once',
        });
      seen.add(identity);
      labels.push(label.value);
    }
  }
  return ok(labels);
}

/** Splits at each `separator` without a backslash before it. */
function splitEscaped(text: string, separator: ',' | '='): string[] {
  const parts: string[] = [''];
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '\\' && i + 1 < text.length) parts[parts.length - 1] += c + text[++i]!;
    else if (c === separator) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts;
}

const unescaped = (text: string): string => text.replace(/\\([,=\\])/g, '$1');

/**
 * Parses the labels of the upload's query string: `<key1>=<val1>,<key2>=<val2>`; a backslash escapes `,` and `=` (spec
 * v3.1 part 1).
 */
export function parseLabelsText(text: string, field = 'labels'): Result<LabelPair[], LabelFault> {
  if (text.trim() === '') return ok([]);
  const members: Record<string, string>[] = [];
  for (const part of splitEscaped(text, ',')) {
    const [key, ...rest] = splitEscaped(part, '=');
    if (key === undefined || rest.length === 0) {
      return err({ field, message: `"${part}" is not a label`, expected: '<key1>=<val1>,<key2>=<val2>' });
    }
    members.push({ [unescaped(key).trim()]: unescaped(rest.join('=')) });
  }
  return parseLabels(members, field);
}

/** Makes the error answer for a refused label. */
export function labelError(fault: LabelFault): AppError {
  const { message, ...details } = fault;
  return new AppError('bad_parameters_error', message, details);
}
