import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { addressRule } from '@baton/http';
import { systemClock } from '@baton/kernel';
import { FatalError, RetryableError } from '@baton/plugin-sdk';

export interface Fetched {
  status: number;
  body: Uint8Array;
}
export type SafeFetch = (
  url: string,
  options: { caPem: string | null; signal: AbortSignal },
) => Promise<Fetched>;

const MAX_BYTES = 32 * 1024 * 1024;
const TOTAL_MS = 60_000;
const MAX_REDIRECTS = 5;

/**
 * Fetches scripts by URL. Addresses inside the installation are refused at the time of the connection, so neither names nor
 * redirects get around the check; `allow` (CIDR) makes exceptions.
 */
export function createSafeFetch(allow: readonly string[]): SafeFetch {
  const isAllowed = addressRule(allow);
  const refusal = (): FatalError =>
    new FatalError('Failed downloading script: the URL does not lead to a public http or https address');
  const guarded: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      if (found.length === 0 || !found.every(({ address }) => isAllowed(address))) return done(refusal(), '');
      const first = found[0] as { address: string; family: number };
      return options.all ? done(null, found) : done(null, first.address, first.family);
    });
  };
  return async (url, { caPem, signal }) => {
    const until = systemClock.monotonic() + TOTAL_MS;
    let target = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const parsed = URL.canParse(target) ? new URL(target) : null;
      const host = parsed?.hostname.replace(/^\[|\]$/g, '') ?? '';
      if (!parsed || !/^https?:$/.test(parsed.protocol) || (isIP(host) !== 0 && !isAllowed(host)))
        throw refusal();
      const answer = await get(parsed, {
        lookup: guarded,
        signal,
        limitMs: until - systemClock.monotonic(),
        ...(caPem ? { ca: caPem } : {}),
      });
      if (answer.location === null) return answer;
      target = new URL(answer.location, parsed).href;
    }
    throw new FatalError(`Failed downloading script: more than ${MAX_REDIRECTS} redirects`);
  };
}

/** Downloads a file by URL. @throws FatalError naming the status when the server does not return the file. */
export async function downloaded(fetchUrl: SafeFetch, url: string, signal: AbortSignal): Promise<Uint8Array> {
  const { status, body } = await fetchUrl(url, { caPem: null, signal });
  if (status >= 200 && status < 300) return body;
  throw new FatalError(`Failed to download ${url}: the server answered ${status}`);
}

function get(
  url: URL,
  { limitMs, ...options }: https.RequestOptions & { limitMs: number },
): Promise<Fetched & { location: string | null }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => call.destroy(new Error(`no end after ${TOTAL_MS / 1000} seconds`)),
      Math.max(0, limitMs),
    );
    const failed = (error: Error): void => {
      clearTimeout(timer);
      reject(
        error instanceof FatalError
          ? error
          : new RetryableError(`Failed downloading script: ${error.message}`, { cause: error }),
      );
    };
    const call = (url.protocol === 'https:' ? https : http).get(
      url,
      { ...options, agent: false },
      (answer) => {
        const status = answer.statusCode ?? 0;
        const location = status >= 300 && status < 400 ? (answer.headers.location ?? null) : null;
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_BYTES)
            call.destroy(new FatalError(`Failed downloading script: more than ${MAX_BYTES} bytes`));
          else chunks.push(chunk);
        });
        answer.on('end', () => {
          clearTimeout(timer);
          resolve({ status, location, body: Buffer.concat(chunks) });
        });
        answer.on('error', failed);
      },
    );
    call.on('error', failed);
  });
}
