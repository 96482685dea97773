import type { IncomingMessage } from 'node:http';
import { createIsHttps, createIsProxyPeer } from './client-address';

/**
 * Returns the scheme, host and port under which a browser reaches the manager, as in `https://manager.example:8443`; empty:
 * unknown.
 */
export type OwnOrigin = (request: IncomingMessage) => string;

/** `trustedProxies`: proxies whose X-Forwarded-Proto and X-Forwarded-Host are trusted, like their X-Forwarded-For. */
export function createOwnOrigin(trustedProxies: readonly string[]): OwnOrigin {
  const isHttps = createIsHttps(trustedProxies);
  const isProxy = createIsProxyPeer(trustedProxies);
  return (request) => {
    const { headers } = request;
    const forwarded = headers['x-forwarded-host'];
    const host = typeof forwarded === 'string' && isProxy(request) ? forwarded : headers.host;
    return originOf(`${isHttps(request) ? 'https' : 'http'}://${host ?? ''}`);
  };
}

/** Returns the origin as browsers write it: in small letters, without the default port. */
function originOf(address: string): string {
  try {
    return new URL(address).origin;
  } catch {
    return '';
  }
}
