import type { Json } from '@baton/kernel';

/** Formats JSON like Python's repr; a number without fraction is an integer. */
function repr(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value
      .replaceAll('\\', '\\\\')
      .replaceAll(quote, `\\${quote}`)
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r')
      .replaceAll('\t', '\\t');
    return quote + escaped + quote;
  }
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([k, v]) => `${repr(k)}: ${repr(v)}`)
    .join(', ')}}`;
}

/** Formats JSON like Python's str: the output of `ctx` without -j, and the text that templates insert. */
export function pythonText(value: Json): string {
  return typeof value === 'string' ? value : repr(value);
}

/** Whether Python treats the value as false: null, 0, "", empty list, empty dictionary, false. */
export function isFalsy(value: Json | undefined): boolean {
  if (!value) return true;
  return (
    typeof value === 'object' && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
  );
}
