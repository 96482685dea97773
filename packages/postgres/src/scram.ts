import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** The iteration count that PostgreSQL itself uses. */
const ITERATIONS = 4096;

/**
 * Returns `password` in the form in which PostgreSQL stores it (SCRAM-SHA-256), so that neither the statement that sets it nor a
 * log of the server shows it. A password with characters outside ASCII would have to be normalised first; it is returned as it is,
 * and the server hashes it.
 */
export function passwordVerifier(password: string): string {
  if (!/^[\x20-\x7e]*$/.test(password)) return password;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}
