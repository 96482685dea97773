import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server with the secrets of a manager, over real HTTP. Operations find it by the variables that every operation has. */
export interface SecretStore {
  readonly secrets: Map<string, string>;
  /** Method and name of each request, in order. */
  readonly requests: string[];
  /** Called before a request is carried out; an answer other than undefined is the status. */
  refuse: (request: string) => number | undefined;
  close(): Promise<void>;
}

/** Starts a server, and sets the variables of its address. */
export async function startSecretStore(): Promise<SecretStore> {
  const store = { secrets: new Map<string, string>(), requests: [] as string[] };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const name = decodeURIComponent(request.url!.replace('/api/v3.1/secrets/', ''));
    const line = `${request.method} ${name}`;
    store.requests.push(line);
    const status = made.refuse(line) ?? answerTo(request.method!, name, pieces);
    const value = store.secrets.get(name);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? JSON.stringify({ key: name, value }) : '');
  });
  const answerTo = (method: string, name: string, pieces: Buffer[]): number => {
    const { secrets } = store;
    if (method === 'PUT') {
      const given = JSON.parse(Buffer.concat(pieces).toString()) as {
        value: string;
        update_if_exists?: boolean;
      };
      if (secrets.has(name) && given.update_if_exists !== true) return 409;
      secrets.set(name, given.value);
      return 200;
    }
    if (!secrets.has(name)) return 404;
    if (method === 'DELETE') secrets.delete(name);
    return method === 'DELETE' ? 204 : 200;
  };
  const made: SecretStore = {
    ...store,
    refuse: () => undefined,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, { REST_PROTOCOL: 'http', REST_HOST: '127.0.0.1', REST_PORT: String(port) });
  return made;
}
