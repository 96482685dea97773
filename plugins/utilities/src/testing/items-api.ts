import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server got it. */
export interface Got {
  method: string;
  /** With its query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer: the status, and content that is sent as JSON, or as it is when it is a text. */
export interface Answer {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: unknown;
}

/** A server of HTTP, which keeps the requests, and answers as the test says. */
export interface Api {
  readonly port: number;
  readonly got: Got[];
  /** Null: the connection is cut. */
  answer: (request: Got) => Answer | null;
  /** `METHOD url` of each request. */
  lines(): string[];
  close(): Promise<void>;
}

export async function startApi(answer: Api['answer'] = () => ({})): Promise<Api> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const one: Got = {
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      body: Buffer.concat(pieces).toString(),
    };
    got.push(one);
    const made = api.answer(one);
    if (made === null) {
      request.socket.destroy();
      return;
    }
    const { status = 200, headers = {}, body } = made;
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api: Api = {
    port: (server.address() as AddressInfo).port,
    got,
    answer,
    lines: () => got.map(({ method, url }) => `${method} ${url}`),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return api;
}

/** An API with items: POST /items makes one, GET, PATCH and DELETE /items/<id> are for one. */
export function itemsApi(): { items: Map<string, Record<string, unknown>>; answer: Api['answer'] } {
  const items = new Map<string, Record<string, unknown>>();
  const made = new Map<string, string>();
  return {
    items,
    answer: ({ method, url, body, headers }) => {
      const id = /^\/items\/([^/?]+)/.exec(url)?.[1];
      if (method === 'POST' && url === '/items') {
        const key = headers['idempotency-key'] as string | undefined;
        const known = key === undefined ? undefined : made.get(key);
        const own = known ?? `i${items.size + 1}`;
        if (known === undefined) items.set(own, { id: own, ...(JSON.parse(body) as object) });
        if (key !== undefined) made.set(key, own);
        return { status: 201, body: items.get(own) };
      }
      const item = id === undefined ? undefined : items.get(id);
      if (item === undefined) return { status: 404, body: { message: 'no such item' } };
      if (method === 'PATCH') Object.assign(item, JSON.parse(body));
      if (method === 'DELETE') items.delete(id!);
      return { body: item };
    },
  };
}
