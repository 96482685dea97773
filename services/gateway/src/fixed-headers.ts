import type { IncomingMessage } from 'node:http';
import { securityHeaders } from './security-headers';

/** [name, value, ...] that every answer of the gateway to this request has, whatever it is. */
export type FixedHeaders = (request: IncomingMessage) => readonly string[];

const ALWAYS: readonly string[] = securityHeaders({ xContentTypeOptions: true });

/** `hstsMs`: for how long browsers are to stay with https; 0: nothing is said. `isHttps`: whether a request came over it. */
export function createFixedHeaders(
  hstsMs: number,
  isHttps: (request: IncomingMessage) => boolean,
): FixedHeaders {
  if (hstsMs < 1000) return () => ALWAYS;
  const age = { maxAge: Math.floor(hstsMs / 1000), includeSubDomains: true };
  const overHttps = [...ALWAYS, ...securityHeaders({ strictTransportSecurity: age })];
  return (request) => (isHttps(request) ? overHttps : ALWAYS);
}

/** What an answer of the API has unless its service says otherwise (files do): people, tokens and secrets are in no cache. */
export const UNLESS_SAID: readonly string[] = ['cache-control', 'no-store'];
