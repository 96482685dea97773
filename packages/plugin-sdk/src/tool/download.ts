import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { backoffMs } from '@baton/kernel';
import { FatalError, isMarkedError, RetryableError } from '../errors';
import { clockWith } from '../tools/clock';
import { follow } from '../tools/http-follow';
import { addressOf, shownUrl } from '../tools/http-parts';
import { type Send, sendByNode } from '../tools/http-send';
import { requireDownloads } from '../tools/require-downloads';

export interface DownloadOptions {
  url: string;
  /** File to write. It appears whole, or not at all. */
  path: string;
  /** SHA-256 of the file in hexadecimal digits. Without it nobody knows whether the file is the right one. */
  sha256?: string;
  /** Longest file. Default: 500 MiB. */
  maxBytes?: number;
  headers?: Readonly<Record<string, string>>;
  /** Default: 10 min for each try. */
  timeoutMs?: number;
  signal?: AbortSignal;
  send?: Send;
}

const MAX_BYTES = 500 * 1024 * 1024;
const TIMEOUT_MS = 600_000;
const TRIES = 3;
const BACKOFF = { firstMs: 250, maxMs: 5_000, factor: 2, jitter: 0.3 };
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Writes a file from a server, and checks its digest while it comes. Redirects are followed as by `http`. The network rules of the
 * worker hold.
 * @throws FatalError for another digest, a file that is too long, an answer other than 200, and where downloads are refused
 * @throws RetryableError when the connection was lost again and again
 */
export async function download(options: DownloadOptions): Promise<void> {
  const url = addressOf(options.url, {});
  const name = shownUrl(url);
  requireDownloads(name);
  if (options.sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(options.sha256))
    throw new FatalError(`the SHA-256 of ${name} must be 64 hexadecimal digits`);
  await mkdir(dirname(options.path), { recursive: true });
  const part = `${options.path}.part`;
  try {
    for (let attempt = 1; ; attempt++)
      try {
        await once(url, name, part, options);
        break;
      } catch (thrown) {
        const failure = isMarkedError(thrown)
          ? thrown
          : new RetryableError(`${name}: ${(thrown as Error).message}`, { cause: thrown });
        if (failure instanceof FatalError || attempt >= TRIES || options.signal?.aborted) throw failure;
        await clockWith(options.signal).sleep(backoffMs(attempt, BACKOFF));
      }
    await rename(part, options.path);
  } finally {
    await rm(part, { force: true });
  }
}

async function once(url: URL, name: string, part: string, options: DownloadOptions): Promise<void> {
  const {
    send = sendByNode,
    headers = {},
    maxBytes = MAX_BYTES,
    timeoutMs = TIMEOUT_MS,
    signal,
    sha256,
  } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const received = await follow({ method: 'GET', url, headers, signal: stop }, send);
  if (received.status !== 200) {
    received.body.destroy();
    const message = `${name} answered ${received.status}`;
    throw PASSING.has(received.status) ? new RetryableError(message) : new FatalError(message);
  }
  const digest = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      digest.update(piece);
      if (bytes > maxBytes) done(new FatalError(`${name} is longer than ${maxBytes} bytes`));
      else done(null, piece);
    },
  });
  await pipeline(received.body, counted, createWriteStream(part, { mode: 0o600 }), { signal: stop });
  const found = digest.digest('hex');
  if (sha256 !== undefined && found !== sha256.toLowerCase())
    throw new FatalError(
      `${name} is another file: its SHA-256 is ${found}, and ${sha256.toLowerCase()} was expected`,
    );
}
