/** A list or an object of at most so many characters of JSON stands in one line. */
const SHORT = 80;

/** JSON in one line, with room between its values; null: it is longer than `most` characters. Looks no further than that. */
export function shortJson(value: unknown, most = SHORT): string | null {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'string' && value.length > most) return null;
    const text = JSON.stringify(value) ?? 'null';
    return text.length > most ? null : text;
  }
  if (most < 2) return null;
  const isList = Array.isArray(value);
  let line = '';
  for (const key in value) {
    const name = isList ? '' : `${JSON.stringify(key)}: `;
    line += `${line === '' ? '' : ', '}${name}`;
    const inner = shortJson((value as Record<string, unknown>)[key], most - line.length - 2);
    if (inner === null) return null;
    line += inner;
  }
  return line.length + 2 > most ? null : isList ? `[${line}]` : `{${line}}`;
}
