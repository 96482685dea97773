/** An endpoint of webhooks for tests: it keeps what it gets, and answers as the test says. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

export type Answering = (response: http.ServerResponse, received: Received) => void;

export async function startReceiver() {
  const got: Received[] = [];
  const answers = new Map<string, Answering>();
  const open = new Set<http.ServerResponse>();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const received = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() };
      got.push(received);
      open.add(response);
      response.on('close', () => open.delete(response));
      (answers.get(received.path) ?? ok)(response, received);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    got,
    /** The requests for one path, oldest first. */
    at: (path: string) => got.filter((one) => one.path === path),
    /** How requests for a path are answered from now on; default: 200. */
    answer: (path: string, how: Answering) => void answers.set(path, how),
    close: async () => {
      for (const response of open) response.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

const ok: Answering = (response) => void response.end('thanks');
export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (response) =>
    void response.writeHead(code, headers).end();
