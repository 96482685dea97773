import type { RequestHeaders } from './request-headers';

export type Credential =
  | { kind: 'execution'; token: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string };

/** A uuid without dashes; anything else need not be looked up. */
export const EXECUTION_TOKEN = /^[0-9a-f]{32}$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The credential that counts, in the order of reference/rest-api.md 2.1: execution token (in either header), basic,
 * user token. Null: none, or an Authorization header that cannot be read, which is the same thing to the caller.
 */
export function readCredential(
  headers: Pick<RequestHeaders, 'authorization' | 'authenticationToken' | 'executionToken'>,
): Credential | null {
  const { authorization, authenticationToken, executionToken } = headers;
  if (executionToken !== '') return { kind: 'execution', token: executionToken };
  if (EXECUTION_TOKEN.test(authenticationToken)) return { kind: 'execution', token: authenticationToken };
  if (authorization !== '') return readBasic(authorization);
  return authenticationToken === '' ? null : { kind: 'token', token: authenticationToken };
}

/** The password may hold colons: the first one separates. */
function readBasic(authorization: string): Credential | null {
  const match = /^basic +(\S+) *$/i.exec(authorization);
  if (!match || !BASE64.test(match[1]!)) return null;
  const text = Buffer.from(match[1]!, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return null;
  return { kind: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
}
