import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuthenticateDeps, authenticate } from './authenticate';
import type { BrowserSessions } from './browser-sessions';
import type { Caller } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import { readSignIn } from './sign-in-body';
import type { SignInWaits } from './sign-in-waits';

export interface SignInDeps extends AuthenticateDeps {
  sessions: BrowserSessions;
  signInWaits: SignInWaits;
}

export interface SignInRequest {
  request: IncomingMessage;
  response: ServerResponse;
  headers: RequestHeaders;
  hasBody: boolean;
  /** Address of the client as client-address.ts returns it. */
  address: string;
}

/**
 * Returns the caller who signs in with the password in the body; the login guard applies as for an Authorization header. Returns
 * null for a code, or for a body that cannot be checked here: identity judges it. Identity checks the password once more when it
 * creates the session.
 * @throws AppError cross_site_request_error, payload_too_large_error; errors of authenticate
 */
export async function signIn(deps: SignInDeps, asked: SignInRequest): Promise<Caller | null> {
  const { request, headers, hasBody, address } = asked;
  deps.sessions.requireOwnSignIn(request, headers);
  const credential = hasBody ? await readSignIn(asked, deps.signInWaits) : null;
  if (!credential) return null;
  return authenticate(deps, credential, {
    tenant: '',
    isLegacy: false,
    allTenantsPermission: '',
    address,
    isWatching: false,
  });
}
