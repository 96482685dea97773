import { isDict, type Json } from '../json';

/** Keys of dictionaries, and names of headers, whose values are nobody's business. */
const SENSITIVE = /authorization|token|secret|passw|api[-_]?key|credential|private[-_]?key|cookie/i;
const MASKED = '********';

/** Hides the values of such keys from log lines and errors. */
export function hideSensitive(value: unknown, hide: (value: unknown) => void): void {
  if (Array.isArray(value)) for (const one of value) hideSensitive(one, hide);
  else if (isDict(value))
    for (const [key, one] of Object.entries(value))
      if (SENSITIVE.test(key) && typeof one !== 'number') hide(one);
      else hideSensitive(one, hide);
}

/** A copy in which such values are masked, for runtime properties: every user of the tenant reads them. */
export function withoutSensitive(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSensitive);
  if (!isDict(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      SENSITIVE.test(key) && one !== null && one !== '' ? MASKED : withoutSensitive(one),
    ]),
  );
}
