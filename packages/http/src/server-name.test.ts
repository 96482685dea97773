import { createServer } from 'node:net';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { serverNameIn } from './server-name';

/** The first bytes that a client of Node sends. */
async function helloOf(servername: string): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      const pieces: Buffer[] = [];
      socket.on('data', (piece) => {
        pieces.push(piece);
        const all = Buffer.concat(pieces);
        if (serverNameIn(all) === undefined) return;
        resolve(all);
        socket.destroy();
        server.close();
      });
    });
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false }).on(
        'error',
        () => undefined,
      );
    });
  });
}

test('the name is read, in small letters; a client without a name has none', async () => {
  expect(serverNameIn(await helloOf('Baton-Agents'))).toBe('baton-agents');
  expect(serverNameIn(await helloOf(''))).toBeNull();
});

test('every beginning of a hello asks for more', async () => {
  const hello = await helloOf('baton-agents');
  const length = 5 + hello.readUInt16BE(3);
  for (let end = 0; end < length; end++) expect(serverNameIn(hello.subarray(0, end))).toBeUndefined();
});

test('what is no hello of TLS has no name', () => {
  expect(serverNameIn(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBeNull();
  expect(serverNameIn(Buffer.from([0x16, 3, 1, 0xff, 0xff, 1]))).toBeNull();
});

test('whatever is changed in a hello, the answer is a name, null or undefined', async () => {
  const hello = await helloOf('baton-agents');
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 20 }), (changes) => {
      const bytes = Buffer.from(hello);
      for (const [at, value] of changes) bytes[at] = value;
      const answer = serverNameIn(bytes);
      expect(answer === null || answer === undefined || typeof answer === 'string').toBe(true);
    }),
  );
});
