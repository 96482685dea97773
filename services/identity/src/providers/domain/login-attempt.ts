/**
 * An attempt to sign in at a provider, between the two redirects. The browser keeps it, sealed, in a cookie: so nothing is stored for
 * attempts that never end, and an answer counts only in the browser that began (RFC 9700, section 4.7).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Secret } from '@baton/kernel';
import { randomText } from '../../domain/token';
import type { Sealer } from './sealed-text';

export const ATTEMPT_MS = 10 * 60_000;
/** 43 letters and digits: 256 bits; also the shortest verifier of PKCE (RFC 7636, section 4.1). */
const RANDOM_LENGTH = 43;

export interface LoginAttempt {
  provider: string;
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  /** Path of the console to which a good sign-in leads. */
  returnTo: string;
  /** Epoch ms of the clock of the database. */
  endsAtMs: number;
}

export function newAttempt(
  given: Pick<LoginAttempt, 'provider' | 'redirectUri' | 'returnTo'>,
  nowMs: number,
): LoginAttempt {
  return {
    ...given,
    state: randomText(RANDOM_LENGTH),
    nonce: randomText(RANDOM_LENGTH),
    verifier: randomText(RANDOM_LENGTH),
    endsAtMs: nowMs + ATTEMPT_MS,
  };
}

/** Code challenge of PKCE, method S256 (RFC 7636, section 4.2). */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

export const stateHash = (state: string): Buffer => createHash('sha256').update(state).digest();

export const sealAttempt = (sealer: Sealer, attempt: LoginAttempt): string =>
  sealer.seal('login attempt', attempt.provider, new Secret(JSON.stringify(attempt))).toString('base64url');

/**
 * Returns the attempt of the cookie when it belongs to this provider, has this state and is not over; else null.
 */
export function openAttempt(
  sealer: Sealer,
  cookie: string,
  asked: { provider: string; state: string; nowMs: number },
): LoginAttempt | null {
  const text = sealer.open('login attempt', asked.provider, Buffer.from(cookie, 'base64url'));
  if (text === null) return null;
  const attempt = JSON.parse(text.expose()) as LoginAttempt;
  const isSame = timingSafeEqual(stateHash(attempt.state), stateHash(asked.state));
  return isSame && attempt.endsAtMs > asked.nowMs ? attempt : null;
}

const CONSOLE = '/ui/';

/** Returns `path` when it leads to a page of the console of this manager, and the first page else. */
export function safeReturn(path: string | undefined): string {
  if (path === undefined || !/^\/ui(?:$|[/?#])/.test(path)) return CONSOLE;
  // Browsers read a backslash as a slash, and drop tabs and line ends.
  if (/[\\\u0000-\u0020\u007f-\uffff]/.test(path)) return CONSOLE;
  const base = 'https://manager.invalid';
  const url = new URL(path, base);
  return url.origin === base && /^\/ui(?:$|\/)/.test(url.pathname)
    ? url.pathname + url.search + url.hash
    : CONSOLE;
}

/** Name of the cookie; with TLS no neighbour of this host can set it. */
const attemptCookieName = (isHttps: boolean): string => (isHttps ? '__Host-baton_login' : 'baton_login');

/** Lax: the provider leads the browser back from another site. */
const attributes = (isHttps: boolean): string => `Path=/; ${isHttps ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`;

export const attemptCookie = (value: string, isHttps: boolean): string =>
  `${attemptCookieName(isHttps)}=${value}; ${attributes(isHttps)}; Max-Age=${ATTEMPT_MS / 1000}`;

export const endedAttemptCookie = (isHttps: boolean): string =>
  `${attemptCookieName(isHttps)}=; ${attributes(isHttps)}; Max-Age=0`;

/** Value of the cookie; two cookies of the name count as none, one of them may be planted. */
export function readAttemptCookie(header: string | undefined, isHttps: boolean): string | null {
  const name = `${attemptCookieName(isHttps)}=`;
  const found = (header ?? '')
    .split(';')
    .map((piece) => piece.trim())
    .filter((piece) => piece.startsWith(name));
  return found.length === 1 ? found[0]!.slice(name.length) : null;
}
