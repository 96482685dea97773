import { createHash } from 'node:crypto';
import { FatalError, RetryableError } from '@baton/plugin-sdk';

export interface DownloadOptions {
  maxBytes: number;
  signal: AbortSignal;
  username?: string | undefined;
  password?: string | undefined;
  /** Of the content, hex. Without it nobody checks the content. */
  sha256?: string | undefined;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 600_000;

/**
 * Reads a file behind a URL. Credentials go to the first server alone, and addresses in errors have neither them nor a query.
 * @throws FatalError for a refusal, a content that is too large or has another digest; RetryableError when the server does not answer
 */
export async function download(address: string, options: DownloadOptions): Promise<Buffer> {
  const content = await fetchFollowing(address, options);
  const { sha256 } = options;
  if (sha256 === undefined) return content;
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== sha256.toLowerCase())
    throw new FatalError(`${shownUrl(new URL(address))}: the content has the SHA-256 ${found}, not ${sha256}`);
  return content;
}

async function fetchFollowing(address: string, options: DownloadOptions): Promise<Buffer> {
  const first = urlOf(address);
  let url = first;
  for (let redirects = 0; ; redirects++) {
    if (redirects > MAX_REDIRECTS) throw new FatalError(`${shownUrl(first)} redirects without end`);
    const response = await answerOf(url, url.origin === first.origin ? options : { ...options, password: undefined });
    const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
    if (next === null) return await contentOf(response, url, options.maxBytes);
    await response.body?.cancel();
    const target = urlOf(next, url);
    if (url.protocol === 'https:' && target.protocol !== 'https:')
      throw new FatalError(`${shownUrl(url)} leads from https to http`);
    url = target;
  }
}

function urlOf(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new FatalError('expected an address of http or https');
  if (url.username !== '' || url.password !== '')
    throw new FatalError('the address holds credentials: give them as username and password');
  return url;
}

async function answerOf(url: URL, { signal, username = '', password }: DownloadOptions): Promise<Response> {
  const headers: Record<string, string> =
    password === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  try {
    return await fetch(url, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } catch (cause) {
    const why = ((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message;
    throw new RetryableError(`${shownUrl(url)}: ${why}`, { cause });
  }
}

async function contentOf(response: Response, url: URL, maxBytes: number): Promise<Buffer> {
  if (!response.ok) {
    const message = `${shownUrl(url)} answered ${response.status}`;
    throw response.status >= 500 || response.status === 429 ? new RetryableError(message) : new FatalError(message);
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new FatalError(`${shownUrl(url)} answers more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const shownUrl = (url: URL): string => `${url.origin}${url.pathname}`;
