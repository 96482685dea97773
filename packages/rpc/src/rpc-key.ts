import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@baton/kernel';
import type { Metadata } from '@grpc/grpc-js';

export const KEY_HEADER = 'x-baton-rpc-key';

/** What callers show instead of the internal key itself. */
export function rpcKey(internalKey: Secret): string {
  return createHash('sha256').update(`baton-rpc:${internalKey.expose()}`).digest('hex');
}

/** Whether the caller knows the internal key. */
export function hasKey(metadata: Metadata, expected: string): boolean {
  const given = metadata.get(KEY_HEADER)[0];
  return (
    typeof given === 'string' &&
    given.length === expected.length &&
    timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}
