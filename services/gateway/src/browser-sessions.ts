/** Checks of a browser's request at the edge: which session it carries, and that a page of the manager made the request. */
import type { IncomingMessage } from 'node:http';
import type { Credential } from './credentials';
import { type BrowserRequest, requireOwnSite } from './cross-site';
import type { OwnOrigin } from './own-origin';
import type { RequestHeaders } from './request-headers';
import { readSession } from './session-cookie';

export interface BrowserSessions {
  /** Whether the request came over TLS. */
  isHttps(request: IncomingMessage): boolean;
  /**
   * Returns the session cookie as a credential. Null when there is no cookie, or when the request sends another credential, which
   * then counts instead.
   * @throws AppError cross_site_request_error
   */
  credentialOf(request: IncomingMessage, headers: RequestHeaders, method: string): Credential | null;
  /** Address under which the browser reached the manager, as in `https://manager.example`; empty: unknown. */
  originOf(request: IncomingMessage): string;
  /** Checks a sign-in. @throws AppError cross_site_request_error when a page of another site makes it. */
  requireOwnSignIn(request: IncomingMessage, headers: RequestHeaders): void;
}

export function createBrowserSessions(
  isHttps: BrowserSessions['isHttps'],
  ownOrigin: OwnOrigin,
): BrowserSessions {
  const saidOf = (request: IncomingMessage, headers: RequestHeaders, method: string): BrowserRequest => ({
    method,
    origin: headers.origin,
    fetchSite: headers.fetchSite,
    marker: headers.marker,
    ownOrigin: ownOrigin(request),
  });
  return {
    isHttps,
    originOf: ownOrigin,
    credentialOf(request, headers, method) {
      const { cookie, authorization, authenticationToken, executionToken } = headers;
      // An unreadable credential also turns the cookie off: a client that sends a credential does not mean the cookie.
      if (cookie === '' || authorization !== '' || authenticationToken !== '' || executionToken !== '')
        return null;
      const secret = readSession(cookie, isHttps(request));
      if (secret === null) return null;
      requireOwnSite(saidOf(request, headers, method), true);
      return { kind: 'session', secret };
    },
    requireOwnSignIn(request, headers) {
      requireOwnSite(saidOf(request, headers, 'POST'), false);
    },
  };
}
