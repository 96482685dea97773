import type { ScalarType, ScalarValue } from './node';

/** YAML 1.1 plain scalars of the definitions language (reference 0, table "YAML scalar resolution"). */

const BOOLEANS = new Map<string, boolean>();
for (const word of ['yes', 'true', 'on']) for (const w of cases(word)) BOOLEANS.set(w, true);
for (const word of ['no', 'false', 'off']) for (const w of cases(word)) BOOLEANS.set(w, false);

function cases(word: string): string[] {
  return [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()];
}

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const DECIMAL = /^[-+]?(?:0|[1-9][0-9_]*)$/;
const OCTAL = /^[-+]?0[0-7_]+$/;
const BINARY = /^[-+]?0b[01_]+$/;
const HEX = /^[-+]?0x[0-9a-fA-F_]+$/;
const SEXAGESIMAL = /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/;
const FLOAT = /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/;
const SEXAGESIMAL_FLOAT = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;
const TIMESTAMP =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;

export interface Resolved {
  type: ScalarType;
  value: ScalarValue;
}

/** Returns type and value of a plain (unquoted, untagged) scalar. */
export function resolvePlain(text: string): Resolved {
  if (NULLS.has(text)) return { type: 'null', value: null };
  const first = text.charCodeAt(0);
  // numbers and timestamps begin only with digits, '+', '-', '.'
  if ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46) {
    return resolveNumber(text) ?? { type: 'string', value: text };
  }
  const bool = text.length <= 5 ? BOOLEANS.get(text) : undefined;
  return bool === undefined ? { type: 'string', value: text } : { type: 'boolean', value: bool };
}

/** Longer texts are no numbers: they stay text and are not scanned again and again. */
const NUMBER_TEXT_MAX = 400;

function resolveNumber(text: string): Resolved | null {
  if (text.length > NUMBER_TEXT_MAX) return null;
  if (DECIMAL.test(text)) return integer(Number(text.replaceAll('_', '')));
  if (FLOAT.test(text)) return float(Number(text.replaceAll('_', '')));
  if (text.includes(':')) {
    if (SEXAGESIMAL.test(text)) return integer(sixty(text));
    if (SEXAGESIMAL_FLOAT.test(text)) return float(sixty(text));
  }
  if (OCTAL.test(text)) return integer(radix(text, 0, 8));
  if (HEX.test(text)) return integer(radix(text, 2, 16));
  if (BINARY.test(text)) return integer(radix(text, 2, 2));
  if (INFINITE.test(text)) return float(text[0] === '-' ? -Infinity : Infinity);
  if (NOT_A_NUMBER.test(text)) return float(Number.NaN);
  if (TIMESTAMP.test(text)) return { type: 'timestamp', value: text };
  return null;
}

const integer = (value: number): Resolved => ({ type: 'integer', value: value === 0 ? 0 : value });
const float = (value: number): Resolved => ({ type: 'float', value });

function radix(text: string, prefix: number, base: number): number {
  const signed = text[0] === '-' || text[0] === '+';
  const digits = text.slice((signed ? 1 : 0) + prefix).replaceAll('_', '');
  const value = digits === '' ? 0 : Number.parseInt(digits, base);
  return text[0] === '-' ? -value : value;
}

function sixty(text: string): number {
  const parts = text.replaceAll('_', '').replace(/^[-+]/, '').split(':');
  const value = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  return text[0] === '-' ? -value : value;
}
