import type { IncomingMessage } from 'node:http';
import { securityHeaders } from './security-headers';

/** Returns [name, value, ...] that every answer of the gateway to this request has. */
export type FixedHeaders = (request: IncomingMessage) => readonly string[];

const ALWAYS: readonly string[] = securityHeaders({ xContentTypeOptions: true });

/**
 * `hstsMs`: how long browsers are told to keep to HTTPS; 0: no such header is sent. `isHttps`: whether a request came over HTTPS.
 */
export function createFixedHeaders(
  hstsMs: number,
  isHttps: (request: IncomingMessage) => boolean,
): FixedHeaders {
  if (hstsMs < 1000) return () => ALWAYS;
  const age = { maxAge: Math.floor(hstsMs / 1000), includeSubDomains: true };
  const overHttps = [...ALWAYS, ...securityHeaders({ strictTransportSecurity: age })];
  return (request) => (isHttps(request) ? overHttps : ALWAYS);
}

/**
 * Headers of an answer of the API unless its service sets them (as for files): data about people, tokens and secrets must be in no
 * cache.
 */
export const UNLESS_SAID: readonly string[] = ['cache-control', 'no-store'];
