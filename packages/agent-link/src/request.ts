/** Requests of HTTP to the agents' listener: enrolment, renewal, packages. */
import { type IncomingMessage, request } from 'node:http';
import { type Credentials, openTls, placeOf } from './open-tls';
import type { ProxySettings } from './proxy';

export interface Asked {
  method: 'GET' | 'POST';
  path: string;
  /** JSON. */
  body?: object;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface Answered {
  status: number;
  headers: IncomingMessage['headers'];
  /** To be read or destroyed by the caller. */
  body: IncomingMessage;
}

const TIMEOUT_MS = 30_000;

/**
 * Asks the agents' listener at `address`. `timeoutMs` (30 s) counts until the answer begins, and between two pieces of it.
 * @throws Error that says what failed
 */
export async function requestOf(
  address: string,
  asked: Asked,
  credentials: Credentials,
  proxy: ProxySettings,
): Promise<Answered> {
  const timeoutMs = asked.timeoutMs ?? TIMEOUT_MS;
  const place = placeOf(address);
  const socket = await openTls(place, credentials, proxy, { connectMs: timeoutMs, tlsMs: timeoutMs });
  return new Promise((resolve, reject) => {
    const text = asked.body === undefined ? null : JSON.stringify(asked.body);
    // Without `agent`: it would open a connection of its own.
    const sent = request({
      createConnection: () => socket,
      method: asked.method,
      path: asked.path,
      host: place.host,
      port: place.port,
      headers: {
        ...asked.headers,
        ...(text !== null && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(text)),
        }),
        connection: 'close',
      },
      timeout: timeoutMs,
    });
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.once('error', reject);
    sent.once('response', (body) => resolve({ status: body.statusCode ?? 0, headers: body.headers, body }));
    sent.end(text ?? undefined);
  });
}
