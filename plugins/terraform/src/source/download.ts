import { createHash } from 'node:crypto';
import { type BaseScope, FatalError, RetryableError } from '@baton/plugin-sdk';

export interface DownloadOptions {
  maxBytes: number;
  username?: string | undefined;
  password?: string | undefined;
  /** Of the content, hex. Without it nobody checks the content. */
  sha256?: string | undefined;
}

const TIMEOUT_MS = 600_000;

/**
 * Reads a file behind a URL. Credentials go to the first server alone, and addresses in errors have neither them nor a query.
 * @throws FatalError for a refusal, a content that is too large or has another digest; RetryableError when the server does not answer
 */
export async function download(
  { http }: Pick<BaseScope, 'http'>,
  address: string,
  { maxBytes, username = '', password, sha256 }: DownloadOptions,
): Promise<Uint8Array> {
  const { status, bytes } = await http.request('GET', address, {
    maxBytes,
    timeoutMs: TIMEOUT_MS,
    headers: { accept: '*/*' },
    ...(password === undefined ? {} : { basic: { user: username, password } }),
  });
  if (status !== 200) {
    const message = `${shown(address)} answered ${status}`;
    throw status >= 500 || status === 429 ? new RetryableError(message) : new FatalError(message);
  }
  if (sha256 === undefined) return bytes;
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256.toLowerCase())
    throw new FatalError(`${shown(address)}: the content has the SHA-256 ${found}, not ${sha256}`);
  return bytes;
}

/** An address without its query, which may hold secrets. */
export function shown(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}`;
}
