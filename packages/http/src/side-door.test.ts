import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { splitConnections } from './side-door';

const BODY_BYTES = 30_000_000;
const ROUND_TRIPS = 100;

it('a body that nobody reads yet waits at its client, and does not fill the memory', async () => {
  const uploads: [IncomingMessage, ServerResponse][] = [];
  const server = createServer((incoming, response) => {
    if (incoming.method === 'POST') uploads.push([incoming, response]);
    else response.end('here');
  });
  const door = { serverName: 'door', accept: () => undefined };
  splitConnections(server, { door, isTls: false, waitMs: 5_000, onLate: () => undefined });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const upload = request({ port, host: '127.0.0.1', method: 'POST' });
    upload.end(Buffer.alloc(BODY_BYTES));
    // Meanwhile the server has many turns, in each of which it could read some of the body.
    for (let i = 0; i < ROUND_TRIPS || uploads.length === 0; i++)
      await (await fetch(`http://127.0.0.1:${port}`)).text();
    const [incoming, response] = uploads[0]!;
    expect(incoming.readableLength).toBeLessThan(1_000_000);
    let bytes = 0;
    for await (const chunk of incoming as AsyncIterable<Buffer>) bytes += chunk.length;
    response.end(String(bytes));
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(String((await answer.toArray())[0])).toBe(String(BODY_BYTES));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
