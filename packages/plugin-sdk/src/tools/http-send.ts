import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FatalError } from '../errors';
import { authorizationOf, hostOf, proxyOf, tunnelTo } from './http-proxy';
import { knownTls, type TlsOptions } from './http-tls';

/** One request, without redirects. */
export interface Sending {
  method: string;
  url: URL;
  /** By names in small letters. */
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  tls?: TlsOptions;
  proxy?: string;
  signal: AbortSignal;
}

/** The answer to one request. Whoever gets it reads the body to its end, or destroys it. */
export interface Received {
  status: number;
  headers: Readonly<Record<string, string>>;
  setCookies: readonly string[];
  /** Unpacked. */
  body: Readable;
}

/** Sends one request. @throws Error of Node.js for a lost connection; FatalError for what no other try can mend */
export type Send = (sending: Sending) => Promise<Received>;

/**
 * Sends a request by the HTTP of Node.js, which knows certificates of clients and proxies without another package: the fetch of
 * Node.js takes neither, and undici adds 520 KiB to each plugin.
 */
export const sendByNode: Send = async (sending) => {
  const { url, tls, signal, method } = sending;
  const isTls = url.protocol === 'https:';
  const proxy = sending.proxy === undefined ? null : proxyOf(sending.proxy);
  const options: RequestOptions = { method, signal, headers: headersOf(sending) };
  const known = isTls ? knownTls(tls) : {};
  if (proxy === null) {
    const request = isTls ? tlsRequest : plainRequest;
    return await received(sending, request(url, { ...options, ...known }));
  }
  const toProxy = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
  if (!isTls) {
    const headers = { ...headersOf(sending), host: url.host, ...authorizationOf(proxy) };
    return await received(sending, toProxy({ ...options, ...hostOf(proxy), headers, path: url.href }));
  }
  const socket = await tunnelTo(url, proxy, toProxy, signal);
  const request = tlsRequest(url, { ...options, ...known, socket, agent: false } as RequestOptions);
  return await received(sending, request);
};

function headersOf({ headers, body }: Sending): Record<string, string> {
  // Methods such as GET have a length only when it is given.
  return body === undefined
    ? { ...headers }
    : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
}

function received({ body, method }: Sending, request: ClientRequest): Promise<Received> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      try {
        resolve({
          status: response.statusCode ?? 0,
          headers: joined(response),
          setCookies: response.headers['set-cookie'] ?? [],
          body: method === 'HEAD' ? response : unpacked(response),
        });
      } catch (error) {
        reject(error);
      }
    });
    request.end(body);
  });
}

function joined({ headers }: IncomingMessage): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(texts);
}

const UNPACKERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Nobody asks for a packed answer, but some servers give one. @throws FatalError for a packing that nobody knows */
function unpacked(response: IncomingMessage): Readable {
  const packing = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const isEmpty = response.statusCode === 204 || response.statusCode === 304;
  if (packing === 'identity' || packing === '' || isEmpty) return response;
  if (!Object.hasOwn(UNPACKERS, packing)) {
    response.destroy();
    throw new FatalError(
      `the answer is packed with ${packing.slice(0, 40)}; known: ${Object.keys(UNPACKERS).join(', ')}`,
    );
  }
  // An error of one stream reaches the reader through the last one.
  return pipeline(response, UNPACKERS[packing as keyof typeof UNPACKERS](), () => undefined);
}
