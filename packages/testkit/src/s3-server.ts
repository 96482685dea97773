import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isoInstant, systemClock } from '@baton/kernel';

export interface TestS3 {
  endpoint: string;
  bucket: string;
  objects: Map<string, { content: Buffer; modifiedMs: number }>;
  /** Answers the next `count` requests with `status`. */
  failNext(count: number, status: number): void;
  close(): Promise<void>;
}

/** Objects in one page of a list; small, so that tests see several pages. */
const PAGE = 3;

/**
 * An object store in memory with the calls that packages/blob-store uses: PUT, GET, HEAD, DELETE, list-type=2.
 * Requests without a Signature Version 4, with chunked bodies or with a wrong content digest are refused.
 */
export async function testS3(bucket = 'blobs'): Promise<TestS3> {
  const objects: TestS3['objects'] = new Map();
  const failures: number[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readAll(request);
    const failure = failures.shift();
    if (failure !== undefined) return void response.writeHead(failure).end();
    if (!isSigned(request))
      return void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname !== `/${bucket}` && !url.pathname.startsWith(`/${bucket}/`))
      return void response.writeHead(404).end();
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    if (key === '') return void response.writeHead(200).end(list(objects, url.searchParams));
    handle(objects, request, response, key, body);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    objects,
    failNext: (count, status) => void failures.push(...Array.from({ length: count }, () => status)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function handle(
  objects: TestS3['objects'],
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  body: Buffer,
): void {
  const found = objects.get(key);
  switch (request.method) {
    case 'PUT': {
      if (request.headers['content-length'] === undefined) return void response.writeHead(411).end();
      const digest = createHash('sha256').update(body).digest('hex');
      if (digest !== request.headers['x-amz-content-sha256']) return void response.writeHead(400).end();
      objects.set(key, { content: body, modifiedMs: systemClock.now() });
      return void response.writeHead(200).end();
    }
    case 'DELETE':
      objects.delete(key);
      return void response.writeHead(204).end();
    default:
      if (!found) return void response.writeHead(404).end();
      return give(request, response, found.content);
  }
}

function give(request: IncomingMessage, response: ServerResponse, content: Buffer): void {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const part = start === undefined ? content : content.subarray(Number(start), Number(end) + 1);
  response.writeHead(start === undefined ? 200 : 206, { 'content-length': part.length });
  response.end(request.method === 'HEAD' ? undefined : part);
}

function isSigned(request: IncomingMessage): boolean {
  const authorization = request.headers.authorization ?? '';
  return /^AWS4-HMAC-SHA256 Credential=[^,]+\/s3\/aws4_request, SignedHeaders=[^,]*x-amz-content-sha256[^,]*, Signature=[0-9a-f]{64}$/.test(
    authorization,
  );
}

function list(objects: TestS3['objects'], query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('start-after') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, Number(query.get('max-keys') ?? PAGE));
  const entries = page.map((key) => {
    const { content, modifiedMs } = objects.get(key) as { content: Buffer; modifiedMs: number };
    return `<Contents><Key>${key}</Key><LastModified>${isoInstant(modifiedMs)}</LastModified><Size>${content.length}</Size></Contents>`;
  });
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${page.length < keys.length}</IsTruncated>${entries.join('')}</ListBucketResult>`;
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
