import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer as createTlsServer, type Server, request as tlsRequest } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { silentLog, systemClock } from '@baton/kernel';
import { createTlsSource } from '@baton/tls';
import { createAuthority, writeIssued } from '@baton/tls/authority';
import { createServiceAgent } from './service-agent';

const nowMs = systemClock.now();

test('new connections show renewed certificates, and strangers are not trusted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-agent-'));
  const authority = await createAuthority('services', nowMs);
  const renew = async () =>
    writeIssued(folder, await authority.issue({ names: ['gateway'], nowMs }), authority.cert);
  const serve = async (by: typeof authority): Promise<{ server: Server; port: number }> => {
    const { cert, key } = await by.issue({ names: ['localhost'], nowMs });
    const options = { cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
    const server = createTlsServer(options, (asked, response) => {
      const shown = (asked.socket as TLSSocket).getPeerX509Certificate()!.serialNumber;
      response.writeHead(200, { connection: 'close' }).end(shown);
    });
    server.listen(0, 'localhost');
    await once(server, 'listening');
    return { server, port: (server.address() as AddressInfo).port };
  };
  const ours = await serve(authority);
  const strange = await serve(await createAuthority('stranger', nowMs));
  const source = createTlsSource(await renew(), { log: silentLog });
  const agent = createServiceAgent('https://localhost', {
    connectMs: 2_000,
    keepAliveMs: 1_000,
    tls: source,
  });
  const ask = async (port: number): Promise<string> => {
    const sent = tlsRequest({ host: 'localhost', port, agent }).end();
    return text((await once(sent, 'response'))[0]);
  };
  const before = await ask(ours.port);
  expect(await ask(ours.port)).toBe(before);
  await renew();
  source.refresh();
  expect(await ask(ours.port)).not.toBe(before);
  await expect(ask(strange.port)).rejects.toThrow(/certificate/);
  agent.destroy();
  source.close();
  for (const { server } of [ours, strange]) await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

test('a handshake that does not end is given up', async () => {
  const silent = new Set<Socket>();
  const server = createServer((socket) => void silent.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = createServiceAgent('https://localhost', { connectMs: 50, keepAliveMs: 1_000, tls: null });
  const sent = tlsRequest({ host: '127.0.0.1', port, agent }).end();
  await expect(once(sent, 'response')).rejects.toThrow('the connection was not made in time');
  for (const socket of silent) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('idle connections go soon, and are used again before', async () => {
  let connections = 0;
  const server = createHttpServer((_asked, response) => void response.end('ok'));
  const closed: Promise<unknown>[] = [];
  server.on('connection', (socket: Socket) => {
    connections += 1;
    closed.push(once(socket, 'close'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = createServiceAgent('http://127.0.0.1', { connectMs: 2_000, keepAliveMs: 200, tls: null });
  for (let nth = 0; nth < 2; nth++) {
    const sent = request({ host: '127.0.0.1', port, agent }).end();
    expect(await text((await once(sent, 'response'))[0])).toBe('ok');
  }
  expect(connections).toBe(1);
  await Promise.all(closed);
  await new Promise((resolve) => server.close(resolve));
});
