import { createHash } from 'node:crypto';

/** Tells gateways that the authorities of the listener have changed; the statement of reports computes the same. */
export const listenerDigest = (authorities: string): string =>
  createHash('sha256').update(authorities).digest('hex');
