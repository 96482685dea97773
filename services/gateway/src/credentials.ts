import type { RequestHeaders } from './request-headers';

export type Credential =
  | { kind: 'execution'; token: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string }
  /** Secret in a browser's session cookie (browser-sessions.ts). */
  | { kind: 'session'; secret: string };

/** 32 hex digits, or `agent.<execution id>.<instances>.<32 hex digits>` at an agent; any other token need not be looked up. */
export const EXECUTION_TOKEN = /^(?:agent\.[0-9a-f-]{36}\.[\w-]{1,6000}\.)?[0-9a-f]{32}$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the credential that counts, in the order of reference/rest-api.md 2.1: execution token (in either header), basic, user
 * token. Null when there is none or when the Authorization header cannot be read; the caller gets the same answer in both cases.
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

/** Reads user name and password of basic authentication. The first colon separates them: the password may contain colons. */
function readBasic(authorization: string): Credential | null {
  const match = /^basic +(\S+) *$/i.exec(authorization);
  if (!match || !BASE64.test(match[1]!)) return null;
  const text = Buffer.from(match[1]!, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return null;
  return { kind: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
}
