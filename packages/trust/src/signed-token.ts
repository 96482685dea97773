/** Tokens in the compact form of RFC 7515 with EdDSA; `typ` separates uses: a token of one use is not valid for another. */
import type { KeyObject } from 'node:crypto';
import { type Clock, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { isSignedBy, type SigningKey } from './identity';

export type TokenType = 'baton-principal' | 'baton-call' | 'baton-worker-call' | 'baton-worker';

/** Life of every token: a token with a longer life is refused whoever signed it. */
export const LIFE_S = 60;
/** Largest difference between the clocks of two services. */
export const SKEW_S = 5;
/** A cached token is used again while more than this is left of its life. */
export const REUSE_MARGIN_S = 30;

export interface Claims extends JsonObject {
  /** The signer. */
  iss: string;
  /** The audience. */
  aud: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signToken(typ: TokenType, key: SigningKey, claims: object): string {
  const content = `${encode({ alg: 'EdDSA', kid: key.kid, typ })}.${encode(claims)}`;
  return `${content}.${key.sign(Buffer.from(content)).toString('base64url')}`;
}

/** Returns the times of a token that begins now. */
export function lifeFrom(nowMs: number, lifeS = LIFE_S): { iat: number; exp: number } {
  const iat = Math.floor(nowMs / 1000);
  return { iat, exp: iat + lifeS };
}

/** The reason why a token is refused; for logs, never for callers. */
export class Untrusted extends Error {}

/**
 * Returns the claims of a token of type `typ`, after a check of its signature with the key that `keyOf` finds.
 * @throws Untrusted
 */
export function openToken(
  typ: TokenType,
  token: string,
  keyOf: (claims: Claims, kid: string) => KeyObject | null,
): Claims {
  const [head, body, signature, more] = token.split('.');
  if (!head || !body || !signature || more !== undefined) throw new Untrusted('it is no signed token');
  const header = decode(head);
  if (header.alg !== 'EdDSA' || header.typ !== typ || typeof header.kid !== 'string')
    throw new Untrusted(`it is no token of the type ${typ}`);
  const claims = claimsOf(decode(body));
  const key = keyOf(claims, header.kid);
  if (!key)
    throw new Untrusted(`the key ${header.kid.slice(0, 64)} of ${claims.iss.slice(0, 64)} is not known`);
  if (!isSignedBy(key, Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url')))
    throw new Untrusted('its signature is wrong');
  return claims;
}

/** Returns the claims of a token without a check of its signature. @throws Untrusted when the text is no token */
export const claimsIn = (token: string): Claims => claimsOf(decode(token.split('.')[1] ?? ''));

function decode(part: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Json;
  } catch {
    throw new Untrusted('it is no signed token');
  }
  if (!isJsonObject(value)) throw new Untrusted('it is no signed token');
  return value;
}

function claimsOf(body: JsonObject): Claims {
  const { iss, aud, iat, exp } = body;
  if (typeof iss !== 'string' || typeof aud !== 'string')
    throw new Untrusted('issuer or audience is missing');
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw new Untrusted('iat or exp is missing');
  return body as Claims;
}

/**
 * Checks that the token is valid now: it has begun, has not ended, and was not made for longer than a minute. Its signer could
 * write any `exp`, so the reader limits the life.
 * @throws Untrusted
 */
export function checkLife({ iat, exp }: Claims, clock: Clock, graceS = 0): void {
  const nowS = clock.now() / 1000;
  if (exp - iat > LIFE_S || exp <= iat) throw new Untrusted(`its life is not within ${LIFE_S} s`);
  if (iat > nowS + SKEW_S) throw new Untrusted('it begins later');
  if (exp > nowS + LIFE_S + SKEW_S) throw new Untrusted(`it ends more than ${LIFE_S} s from now`);
  if (exp + SKEW_S + graceS <= nowS) throw new Untrusted('it has expired');
}

/** The moment, in ms, from which a token is refused. */
export const endMsOf = ({ exp }: Claims): number => (exp + SKEW_S) * 1000;
