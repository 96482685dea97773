// A small HTTP API with items, for examples that keep the things of an API.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ItemsApi {
  port: number;
  /** By id. */
  items: Map<string, Record<string, unknown>>;
  /** Method and path of each request that changed something. */
  changes: string[];
  stop(): Promise<void>;
}

/** Starts the API on loopback: POST /items, and GET, PATCH, DELETE of /items/<id>, for those who know the token. */
export async function startItemsApi(token: string): Promise<ItemsApi> {
  const items: ItemsApi['items'] = new Map();
  const changes: string[] = [];
  const ids = new Map<string, string>();
  const made = (key: string, body: object): Record<string, unknown> => {
    const id = ids.get(key) ?? `item-${ids.size + 1}`;
    if (!ids.has(key)) items.set(id, { id, ...body });
    ids.set(key, id);
    return items.get(id)!;
  };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = '', url = '', headers } = request;
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (headers.authorization !== `Bearer ${token}`) return answer(401, { message: 'who are you?' });
    if (method !== 'GET') changes.push(`${method} ${url}`);
    const body = method === 'POST' || method === 'PATCH' ? JSON.parse(Buffer.concat(pieces).toString()) : {};
    if (method === 'POST') return answer(201, made(String(headers['idempotency-key']), body));
    const id = url.split('/').at(-1)!;
    const item = items.get(id);
    if (item === undefined) return answer(404, { message: 'there is no such item' });
    if (method === 'PATCH') Object.assign(item, body);
    if (method === 'DELETE') items.delete(id);
    answer(200, item);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    items,
    changes,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
