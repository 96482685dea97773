import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server with the parts of a manager's API that the plugin asks for, over real HTTP. */
export interface ManagerDouble {
  readonly secrets: Map<string, string>;
  /** Groups of the blueprint with their members. */
  groups: Record<string, { members: string[] }>;
  close(): Promise<void>;
}

/** Starts the server, and sets the variables by which operations find it. */
export async function startManagerDouble(): Promise<ManagerDouble> {
  const secrets = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const [, kind, name] = /^\/api\/v3\.1\/([a-z-]+)\/([^?]+)/.exec(request.url!) ?? [];
    const body = Buffer.concat(pieces).toString();
    const found =
      kind === 'secrets' ? secretAnswer(secrets, request.method!, decodeURIComponent(name!), body) : null;
    const answer = kind === 'deployments' ? { groups: made.groups } : found;
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  const made: ManagerDouble = {
    secrets,
    groups: {},
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, { REST_PROTOCOL: 'http', REST_HOST: '127.0.0.1', REST_PORT: String(port) });
  return made;
}

function secretAnswer(
  secrets: Map<string, string>,
  method: string,
  key: string,
  body: string,
): { key: string; value: string } | null {
  if (method === 'PUT') secrets.set(key, (JSON.parse(body) as { value: string }).value);
  const value = secrets.get(key);
  if (method === 'DELETE') secrets.delete(key);
  return value === undefined ? null : { key, value };
}
