import { createHmac } from 'node:crypto';

/** Names of members whose values nobody but their owner should see. */
const SENSITIVE = /pass(word|wd|phrase)?$|secret|token|private_?key|api_?key|credential|^key_content$/i;

const digest = (salt: string, value: unknown): string =>
  `masked:${createHmac('sha256', salt).update(JSON.stringify(value)).digest('base64url').slice(0, 22)}`;

/**
 * Returns `value` with digests in place of the values of members that look like credentials by their name, such as `password`.
 * Two values can still be compared when both were masked with the same salt. Names, such as those that `get_secret` takes, stay.
 */
export function masked(salt: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(salt, one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isHeld(name, inner) ? digest(salt, inner) : masked(salt, inner),
    ]),
  );
}

function isHeld(name: string, value: unknown): boolean {
  if (!SENSITIVE.test(name) || name === 'get_secret') return false;
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
