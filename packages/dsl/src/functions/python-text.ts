import type { Json } from '@baton/kernel';

/** Returns the text of a value for `concat`: strings as they are, other values in the form of Python's `str`. */
export function pythonText(value: Json): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

function pythonRepr(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return pythonNumber(value);
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  return `{${Object.keys(value)
    .map((key) => `${quoted(key)}: ${pythonRepr(value[key]!)}`)
    .join(', ')}}`;
}

function pythonNumber(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = String(value);
  const exponent = /^(.+)e([+-])(\d+)$/.exec(text);
  if (!exponent) return text;
  return `${exponent[1]}e${exponent[2]}${exponent[3]!.padStart(2, '0')}`;
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
