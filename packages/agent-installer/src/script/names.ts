import { createHash } from 'node:crypto';

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/**
 * Returns the name of an agent as its unit and its folder have it. Signs that mean something to systemd or a shell become
 * `_`; then a digest keeps two such names apart.
 */
export function placeName(name: string): string {
  if (SAFE.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[.-]+/, '_')
    .slice(0, 80)}-${digest}`;
}

/** Returns a word that a POSIX shell reads as exactly this text. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
