/**
 * Signatures of Standard Webhooks: HMAC-SHA256 over `<id>.<timestamp>.<body>`, as `v1,<base64>`. A secret is `whsec_` and the key in
 * base64. While two keys are valid, both signatures are sent, separated by a space.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@baton/kernel';

const PREFIX = 'whsec_';
const NEW_KEY_BYTES = 32;
/** Lengths that Standard Webhooks allows for a key. */
const KEY_BYTES = { least: 24, most: 64 };

export interface SignedContent {
  id: string;
  /** Seconds since 1970-01-01T00:00:00Z. */
  timestampS: number;
  body: string;
}

export const newSigningSecret = (): string => `${PREFIX}${randomBytes(NEW_KEY_BYTES).toString('base64')}`;

/** Whether a text is a secret in the form of Standard Webhooks. */
export function isSigningSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const base64 = text.slice(PREFIX.length);
  const { length } = Buffer.from(base64, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && length >= KEY_BYTES.least && length <= KEY_BYTES.most;
}

function signatureOf(secret: Secret, { id, timestampS, body }: SignedContent): string {
  const key = Buffer.from(secret.expose().slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestampS}.${body}`, 'utf8').digest('base64');
}

/** Returns the three headers of a request. `secrets`: one, or two after a rotation. */
export function signedHeaders(secrets: readonly Secret[], content: SignedContent): Record<string, string> {
  return {
    'webhook-id': content.id,
    'webhook-timestamp': String(content.timestampS),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, content)}`).join(' '),
  };
}

/** Whether one of the signatures in the header is right; compares in constant time. Other versions than v1 are passed over. */
export function hasSignature(secret: Secret, content: SignedContent, header: string): boolean {
  const expected = Buffer.from(signatureOf(secret, content), 'utf8');
  return header
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'utf8'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
