/**
 * Reads the headers of a request in one pass: the headers that the gateway needs, those that it forwards, and those that it
 * refuses.
 */
import { AppError, newId } from '@baton/kernel';
import { MARKER } from './cross-site';
import { withoutSession } from './session-cookie';

export interface RequestHeaders {
  tenant: string;
  authorization: string;
  authenticationToken: string;
  executionToken: string;
  requestId: string;
  /** Announced bytes of the body; -1 when none are announced (no body, or a chunked one). */
  contentLength: number;
  isChunked: boolean;
  bypassesMaintenance: boolean;
  /** URL that a web proxy in front of the file server was asked for; empty: none. */
  originalUri: string;
  /** All lines of the Cookie header, joined; empty: no cookies. */
  cookie: string;
  /** Headers of browsers about the page that makes the request; empty: not sent (cross-site.ts). */
  origin: string;
  fetchSite: string;
  marker: string;
  /** [name, value, ...] for the service, without credentials, tenant, identity and the headers of the connection. */
  forwarded: string[];
}

/**
 * Headers about the caller or the target that may occur only once: of two values, a proxy in between may read another one than the
 * gateway.
 */
const SINGLE = new Set([
  'tenant',
  'authorization',
  'authentication-token',
  'execution-token',
  'content-length',
  'transfer-encoding',
  'host',
  'x-original-uri',
]);

/** Headers of one connection (RFC 9110 7.6.1), and headers that the gateway replaces by its own results. */
const DROPPED = new Set(
  `connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade expect host
   tenant authorization authentication-token execution-token x-request-id forwarded x-real-ip x-bypass-maintenance`.split(
    /\s+/,
  ),
);
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Whether a name, in any spelling, could be mistaken for one of the identity headers that the gateway sets. */
function isReserved(name: string): boolean {
  return name.startsWith('x-baton') || name.startsWith('x_baton') || name.startsWith('x-forwarded');
}

/** Makes unique ids for requests that have none: a random prefix of this process and a counter, so that no id needs new entropy. */
export function createRequestIds(): () => string {
  const prefix = newId();
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** Reads the headers. @throws AppError bad_parameters_error for a repeated header about the caller or the target. */
export function readHeaders(raw: readonly string[], mintId: () => string): RequestHeaders {
  const found: Record<string, string> = {};
  const forwarded: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const value = raw[i + 1]!;
    if (SINGLE.has(name) && name in found) {
      throw new AppError('bad_parameters_error', `Header \`${raw[i]}\` is given twice`, {
        field: name,
        expected: 'one header',
      });
    }
    if (name === 'cookie') {
      // Clients may send one line for each cookie.
      found.cookie = found.cookie === undefined ? value : `${found.cookie}; ${value}`;
      continue;
    }
    found[name] = value;
    if (!DROPPED.has(name) && !isReserved(name)) forwarded.push(name, value);
  }
  const given = found['x-request-id'];
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : mintId();
  forwarded.push('x-request-id', requestId);
  const { cookie = '' } = found;
  const kept = cookie === '' ? '' : withoutSession(cookie);
  if (kept !== '') forwarded.push('cookie', kept);
  return {
    tenant: found.tenant ?? '',
    authorization: found.authorization ?? '',
    authenticationToken: found['authentication-token'] ?? '',
    executionToken: found['execution-token'] ?? '',
    requestId,
    contentLength: found['content-length'] === undefined ? -1 : Number(found['content-length']),
    isChunked: found['transfer-encoding'] !== undefined,
    bypassesMaintenance: found['x-bypass-maintenance']?.toLowerCase() === 'true',
    originalUri: found['x-original-uri'] ?? '',
    cookie,
    origin: found.origin ?? '',
    fetchSite: found['sec-fetch-site'] ?? '',
    marker: found[MARKER] ?? '',
    forwarded,
  };
}
