/** The cookie of a browser's session. identity writes it, the gateway reads it. */

/** `isHttps`: whether the request came over TLS. Browsers accept a `__Host-` cookie only from this host, and only over TLS. */
export const sessionCookieName = (isHttps: boolean): string =>
  isHttps ? '__Host-baton_session' : 'baton_session';

/** Value of Set-Cookie that stores the secret of a session. Scripts cannot read the cookie; it ends with the browser. */
export const sessionCookie = (secret: string, isHttps: boolean): string =>
  `${sessionCookieName(isHttps)}=${secret}; ${attributes(isHttps)}`;

/** Value of Set-Cookie that removes the cookie. */
export const endedSessionCookie = (isHttps: boolean): string =>
  `${sessionCookieName(isHttps)}=; ${attributes(isHttps)}; Max-Age=0`;

const attributes = (isHttps: boolean): string =>
  `Path=/; ${isHttps ? 'Secure; ' : ''}HttpOnly; SameSite=Strict`;
