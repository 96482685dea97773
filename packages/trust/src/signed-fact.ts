/**
 * Signatures beside the bytes that they are of: for messages that others believe. About 0.05 ms to sign, 0.12 ms to check; where that is
 * too much (many a second), `createMac` takes 2 microseconds, and whoever holds the internal key could make it.
 */
import type { ServiceName } from '@baton/contracts';
import { isIdentityOwner, isSignedBy, type ServiceIdentity, type TrustBundle } from './identity';

/** Before the bytes: a signature of a fact is no token, and none of another use. */
const content = (purpose: string, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`baton-fact:${purpose}\n`), bytes]);

/** `<kid>.<signature>` of the bytes, by the identity of this service. */
export function signDetached(identity: ServiceIdentity, purpose: string, bytes: Uint8Array): string {
  const key = identity.key();
  return `${key.kid}.${key.sign(content(purpose, bytes)).toString('base64url')}`;
}

/** Whether `owner` signed exactly these bytes for this purpose. */
export function verifyDetached(
  bundle: TrustBundle,
  owner: ServiceName,
  purpose: string,
  bytes: Uint8Array,
  signature: string,
): boolean {
  const [kid, text, more] = signature.split('.');
  if (!kid || !text || more !== undefined || !isIdentityOwner(owner)) return false;
  const key = bundle.keyOf(owner, kid);
  return key !== null && isSignedBy(key, content(purpose, bytes), Buffer.from(text, 'base64url'));
}
