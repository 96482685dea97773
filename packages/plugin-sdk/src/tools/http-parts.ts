import { type Json, systemClock } from '@baton/kernel';
import { FatalError } from '../errors';
import type { HttpAnswer, HttpOptions } from './http-options';
import type { Received } from './http-send';

/** An address for people: no query, which may hold secrets, and no credentials. */
export const shownUrl = (url: URL): string => `${url.origin}${url.pathname}`;

/** Milliseconds of a Retry-After in seconds or as a date; undefined: there is none that can be read. */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - systemClock.now());
}

/** Reads an answer. `name`: method and address, for people. @throws FatalError when it is longer than `maxBytes` */
export async function answerOf(received: Received, maxBytes: number, name: string): Promise<HttpAnswer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of received.body as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBytes) throw new FatalError(`${name} answered more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  const { status, headers, setCookies } = received;
  return {
    status,
    headers,
    cookies: cookiesOf(setCookies),
    bytes,
    get text() {
      return bytes.toString('utf8');
    },
    json: () => jsonOf(bytes.toString('utf8'), name),
  };
}

function jsonOf(text: string, name: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new FatalError(`${name} answered JSON that cannot be read`, { cause });
  }
}

function cookiesOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line): [string, string] => {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    return at < 0 ? ['', ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ''));
}

/** @throws FatalError for an address without a scheme, of another scheme than HTTP, or with credentials */
export function addressOf(address: string, { baseUrl, query = {} }: HttpOptions): URL {
  const isWhole = /^[a-z][a-z0-9+.-]*:/i.test(address);
  const text =
    isWhole || baseUrl === undefined
      ? address
      : `${baseUrl.replace(/\/$/, '')}/${address.replace(/^\//, '')}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new FatalError('http: expected an address that begins with http:// or https://, or a baseUrl');
  if (url.username !== '' || url.password !== '')
    throw new FatalError('http: the address holds credentials: give them as auth, basic, or a header');
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value));
  return url;
}

/** The headers of a request, by names in small letters. @throws FatalError for options that exclude each other */
export function headersOf({ json, auth, basic, headers = {} }: HttpOptions): Record<string, string> {
  if (auth !== undefined && basic !== undefined)
    throw new FatalError('http: auth and basic are both given: expected one of them');
  const own = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    String(value),
  ]);
  return {
    accept: 'application/json',
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(auth === undefined ? {} : { authorization: `Bearer ${auth}` }),
    ...(basic === undefined ? {} : { authorization: `Basic ${pairOf(basic)}` }),
    ...Object.fromEntries(own),
  };
}

const pairOf = ({ user, password }: { user: string; password: string }): string =>
  Buffer.from(`${user}:${password}`).toString('base64');
