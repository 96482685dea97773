/** One pass over the headers of a request: what the gateway needs, what it passes on, what it refuses. */
import { AppError, newId } from '@baton/kernel';

export interface RequestHeaders {
  tenant: string;
  authorization: string;
  authenticationToken: string;
  executionToken: string;
  requestId: string;
  /** Bytes announced; -1: none were (no body, or a chunked one). */
  contentLength: number;
  isChunked: boolean;
  bypassesMaintenance: boolean;
  /** What a web proxy in front of the file server was asked for; empty: nothing. */
  originalUri: string;
  /** [name, value, ...] for the service behind, without credentials, tenant, identity and what belongs to the connection. */
  forwarded: string[];
}

/** Headers that say who or where: a second one means that somebody in between may read another than we do. */
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

/** Of one connection (RFC 9110 7.6.1), or replaced by what the gateway found out. */
const DROPPED = new Set(
  `connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade expect host
   tenant authorization authentication-token execution-token x-request-id forwarded x-real-ip x-bypass-maintenance`.split(
    /\s+/,
  ),
);
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Names in any spelling that could be taken for the identity the gateway vouches for. */
function isReserved(name: string): boolean {
  return name.startsWith('x-baton') || name.startsWith('x_baton') || name.startsWith('x-forwarded');
}

/** Unique ids for requests that bring none: a random part of this process and a count, without asking for entropy each time. */
export function createRequestIds(): () => string {
  const prefix = newId();
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** @throws AppError bad_parameters_error for a doubled header that says who or where. */
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
    found[name] = value;
    if (!DROPPED.has(name) && !isReserved(name)) forwarded.push(name, value);
  }
  const given = found['x-request-id'];
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : mintId();
  forwarded.push('x-request-id', requestId);
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
    forwarded,
  };
}
