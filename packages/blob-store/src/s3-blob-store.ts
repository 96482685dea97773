import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, backoffMs } from '@baton/kernel';
import { clientTls, type TlsSource } from '@baton/tls';
import { AwsClient } from 'aws4fetch';
import { Agent, fetch as fetchBy } from 'undici';
import { onDisk } from './disk-failure';
import {
  type BlobStore,
  type ByteRange,
  blobNotFound,
  checkDigest,
  isDigest,
  type ListedBlob,
  type StoredBlob,
} from './port';
import { spool } from './spool';
import { withTemporaryFolder } from './temporary-folder';
import { verified } from './verified';

export interface S3Options {
  /** Base address of the service; the bucket becomes the first part of the path. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Prefix of each digest in the keys, default `blobs/`. */
  prefix?: string;
  /** Authorities to trust when the endpoint is https; absent: the system's authorities. */
  trust?: TlsSource | null | undefined;
  /** Longest wait for the head of an answer, default 30 s. */
  timeoutMs?: number;
}

const TRIES = 3;
const RETRY = { firstMs: 100, maxMs: 2_000, factor: 4, jitter: 0.3 };
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface Call {
  method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  upload?: StoredBlob & { file: string };
  range?: ByteRange | undefined;
}

/**
 * Blobs as objects of a bucket in any S3-compatible store. Uploads are first spooled to a local temporary file, because name,
 * length and signature need the digest; then a single PUT is atomic. A crash leaves only the temporary file.
 */
export function createS3BlobStore(options: S3Options): BlobStore {
  const send = createSender(options);
  const prefix = options.prefix ?? 'blobs/';
  const keyOf = (digest: string): string => prefix + checkDigest(digest);
  return {
    put: async (content, limits) => {
      return await withTemporaryFolder(async (folder) => {
        const file = join(folder, 'content');
        const stored = await onDisk('temporary files', () => spool(content, file, limits?.maxBytes));
        await expectOk(
          await send({ method: 'PUT', path: keyOf(stored.digest), upload: { ...stored, file } }),
        );
        return stored;
      });
    },
    open: async (digest, range) => {
      const answer = await send({ method: 'GET', path: keyOf(digest), range });
      if (answer.status === 404) throw blobNotFound(digest);
      await expectOk(answer);
      if (range && answer.status !== 206) {
        await answer.body?.cancel();
        throw unavailable('it does not give parts of an object');
      }
      const content = answer.body
        ? Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
        : Readable.from([]);
      // A part cannot be checked without the whole; the store's own checksums protect it.
      return range ? content : verified(content, digest);
    },
    stat: async (digest) => {
      if (!isDigest(digest)) return null;
      const answer = await send({ method: 'HEAD', path: keyOf(digest) });
      if (answer.status === 404) return null;
      await expectOk(answer);
      return { size: Number(answer.headers.get('content-length')) };
    },
    delete: async (digest) => {
      if (!isDigest(digest)) return;
      const answer = await send({ method: 'DELETE', path: keyOf(digest) });
      if (answer.status !== 404) await expectOk(answer);
      await answer.body?.cancel();
    },
    list: (after) => listAll(send, prefix, after),
    // Uploads under way are in a temporary folder, and the store shows no incomplete objects.
    sweep: async () => 0,
    ping: async () => {
      await expectOk(await send({ method: 'GET', path: '', query: { 'list-type': '2', 'max-keys': '1' } }));
    },
  };
}

type Sender = (call: Call) => Promise<Response>;

function createSender(options: S3Options): Sender {
  const fetchNow = fetchOf(options.trust);
  const client = new AwsClient({ ...options, service: 's3', retries: 0 });
  const base = `${options.endpoint.replace(/\/+$/, '')}/${options.bucket}`;
  return async (call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await sendOnce(fetchNow, client, base, call, options.timeoutMs ?? 30_000);
        if (answer.status < 500 || attempt === TRIES) return answer;
        await answer.body?.cancel();
      } catch (error) {
        if (attempt === TRIES) throw unavailable((error as Error).message, error);
      }
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY)));
    }
  };
}

/**
 * Returns a fetch that trusts our authorities: Node's own fetch takes none, but the library below it does. Renewed ones apply to
 * new connections.
 */
function fetchOf(trust: TlsSource | null | undefined): typeof fetch {
  if (!trust) return fetch;
  const open = () => new Agent({ connect: clientTls(trust) });
  let agent = open();
  trust.onChange(() => {
    // Requests under way end on the old connections.
    void agent.close();
    agent = open();
  });
  return ((url: string, init: RequestInit) =>
    fetchBy(url, { ...init, dispatcher: agent } as never)) as unknown as typeof fetch;
}

async function sendOnce(
  fetchNow: typeof fetch,
  client: AwsClient,
  base: string,
  call: Call,
  timeoutMs: number,
): Promise<Response> {
  const { upload } = call;
  const query = call.query ? `?${new URLSearchParams(call.query)}` : '';
  const signed = await client.sign(`${base}${call.path === '' ? '' : `/${call.path}`}${query}`, {
    method: call.method,
    headers: { 'x-amz-content-sha256': upload?.digest ?? EMPTY_SHA256 },
  });
  const headers = new Headers(signed.headers);
  if (call.range) headers.set('range', `bytes=${call.range.start}-${call.range.end}`);
  // Without a length the body would be sent in chunks, which S3 refuses.
  if (upload) headers.set('content-length', String(upload.size));
  const abort = new AbortController();
  // Uploads and downloads may take long; only the head of the answer has a time limit, counted from the end of an upload.
  const timer = upload ? undefined : setTimeout(() => abort.abort(new Error('no answer in time')), timeoutMs);
  try {
    return await fetchNow(signed.url, {
      method: call.method,
      headers,
      signal: abort.signal,
      ...(upload && {
        body: Readable.toWeb(createReadStream(upload.file)) as ReadableStream,
        duplex: 'half' as const,
      }),
    });
  } finally {
    clearTimeout(timer);
  }
}

async function expectOk(answer: Response): Promise<void> {
  if (answer.ok) return;
  const text = (await answer.text()).slice(0, 300);
  throw unavailable(`status ${answer.status} ${text}`);
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'service_unavailable_error',
    `The blob store does not answer as it should: ${reason}`,
    {},
    { cause },
  );
}

async function* listAll(send: Sender, prefix: string, after = ''): AsyncIterable<ListedBlob> {
  let last = prefix + after;
  for (;;) {
    const answer = await send({
      method: 'GET',
      path: '',
      query: { 'list-type': '2', prefix, 'start-after': last },
    });
    await expectOk(answer);
    const xml = await answer.text();
    for (const [, entry = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = field(entry, 'Key');
      last = key;
      const digest = key.slice(prefix.length);
      if (!isDigest(digest)) continue;
      yield {
        digest,
        size: Number(field(entry, 'Size')),
        modifiedMs: Date.parse(field(entry, 'LastModified')),
      };
    }
    if (field(xml, 'IsTruncated') !== 'true') return;
  }
}

/** Returns the text of an element; our keys, numbers and dates need no unescaping. */
function field(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
}
