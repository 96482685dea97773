import { createHash, createHmac } from 'node:crypto';

/**
 * Returns the token with which operations of an execution may call the API: 32 hex characters, derived from the key. So only its
 * hash is stored, and any replica can give it to a worker (reference/rest-api.md 2.1).
 */
export function executionToken(key: string, executionId: string): string {
  return createHmac('sha256', key).update(`execution-token:${executionId}`).digest('hex').slice(0, 32);
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
