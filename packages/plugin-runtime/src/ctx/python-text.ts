import type { Json } from '@baton/kernel';

/** JSON as Python's repr shows it; a number without fraction is an integer. */
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

/** JSON as Python's str shows it: what `ctx` prints without -j and what templates insert. */
export function pythonText(value: Json): string {
  return typeof value === 'string' ? value : repr(value);
}

/** What Python counts as false: null, 0, "", empty list, empty dictionary, false. */
export function isFalsy(value: Json | undefined): boolean {
  if (!value) return true;
  return (
    typeof value === 'object' && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
  );
}
