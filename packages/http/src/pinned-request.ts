/**
 * Requests to addresses that users name, to archives and webhooks. The host name is resolved once and judged, and the connection is
 * made to exactly the judged IP address, so the name cannot point elsewhere between check and use. `Host` and the name of the
 * certificate stay those of the URL.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { failedFetch, refusedAddress } from './fetch-failure';
import { type AddressRules, bareHost, pinnedAddress, pinnedLookup } from './pinned-address';
import { isPublicAddress } from './public-address';

export type SafeFetchDeps = Partial<AddressRules>;

/**
 * Parses a URL with http or https and without credentials. `base`: the address that redirected here.
 * @throws AppError bad_parameters_error naming `field`.
 */
export function checkUrl(text: string, field: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw refusedAddress(field);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusedAddress(field);
  if (url.username !== '' || url.password !== '')
    throw refusedAddress(field, 'it must not hold a user or password');
  if (base?.protocol === 'https:' && url.protocol === 'http:')
    throw refusedAddress(field, 'a redirect leads from https to http');
  return url;
}

/**
 * Checks a URL as it is written, without asking DNS: its form, and the address when it names one.
 * @throws AppError bad_parameters_error naming `field`.
 */
export function checkWrittenAddress(text: string, field: string, rules: SafeFetchDeps = {}): URL {
  const { isAllowed = isPublicAddress, isHostAllowed = () => false } = rules;
  const url = checkUrl(text, field);
  const host = bareHost(url.hostname);
  if (isIP(host) > 0 && !isHostAllowed(host) && !isAllowed(host)) throw refusedAddress(field);
  return url;
}

/** Resolves the host of `url` and returns the address to connect to. @throws AppError bad_parameters_error naming `field`. */
export async function judgedAddress(url: URL, field: string, rules: SafeFetchDeps): Promise<string> {
  const address = await pinnedAddress(url.hostname, rules).catch((error: unknown) => {
    throw failedFetch(field, error);
  });
  if (address === null) throw refusedAddress(field);
  return address;
}

export interface PinnedRequest {
  url: URL;
  /** IP address to connect to. */
  address: string;
  headers: Record<string, string | number>;
  signal: AbortSignal;
  method?: string;
  body?: Buffer;
  /** PEM of the authority of the server, in place of the well-known ones. */
  ca?: string;
}

/** Sends a request to the given address, without following redirects; resolves with the head of the answer. */
export function pinnedRequest(o: PinnedRequest): Promise<http.IncomingMessage> {
  const { url, address, signal, headers } = o;
  return new Promise((resolve, reject) => {
    const client = url.protocol === 'https:' ? https : http;
    const sent = client.request(
      url,
      {
        lookup: pinnedLookup(address),
        signal,
        agent: false,
        method: o.method ?? 'GET',
        headers: { 'user-agent': 'baton', accept: '*/*', ...headers },
        ...(o.ca === undefined ? {} : { ca: o.ca }),
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(o.body);
  });
}
