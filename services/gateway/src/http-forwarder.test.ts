import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { silentLog } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createHttpForwarder } from './http-forwarder';

/** Long enough for a slow machine, where an answer takes seconds; a request that is not given up would wait for minutes. */
const HUNG_MS = 20_000;

/** Starts a gateway in front of a service whose connections `breakOff` breaks. */
async function behind(breakOff: (socket: Socket) => void): Promise<{ url: string; close(): Promise<void> }> {
  const service = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    breakOff(socket);
  });
  const port = await listening(service as unknown as Server);
  const forwarder = createHttpForwarder({
    origins: { executions: `http://127.0.0.1:${port}` },
    log: silentLog,
  });
  const gateway = createServer((incoming, response) => {
    const length = String(incoming.headers['content-length'] ?? 0);
    const request = {
      service: 'executions' as const,
      method: incoming.method!,
      url: '/api/v3.1/executions',
      headers:
        incoming.method === 'POST' ? ['content-type', 'application/json', 'content-length', length] : [],
      answerHeaders: [],
      unlessSaid: [],
      body: incoming.method === 'POST' ? ('sized' as const) : ('none' as const),
      maxBodyBytes: 1_000,
      isLong: false,
      isComing: false,
    };
    forwarder.forward(
      request,
      incoming,
      response,
      (error) => void response.writeHead(error.entry.http).end(error.code),
    );
  });
  const url = `http://127.0.0.1:${await listening(gateway)}`;
  return {
    url,
    close: async () => {
      await forwarder.close();
      await Promise.all([service, gateway].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

const breaks: Record<string, (socket: Socket) => void> = {
  'before it has read anything': (socket) => void setImmediate(() => socket.resetAndDestroy()),
  'after it has read the request': (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  'with a goodbye': (socket) => void socket.once('data', () => socket.end()),
};

test.each(['POST', 'GET'].flatMap((method) => Object.keys(breaks).map((how) => [method, how] as const)))(
  'a service that dies under %s %s is answered with 503 at once',
  async (method, how) => {
    const gateway = await behind(breaks[how]!);
    try {
      const response = await fetch(gateway.url, {
        method,
        ...(method === 'POST' ? { body: '{"a":1}' } : {}),
        signal: AbortSignal.timeout(HUNG_MS),
      });
      expect([response.status, await response.text()]).toEqual([503, 'service_unavailable_error']);
    } finally {
      await gateway.close();
    }
  },
);

test('a service that is frozen is given up, refused at once then, and used again when it answers', async () => {
  let isFrozen = true;
  const gateway = await behind((socket) =>
    socket.on('data', (chunk) => {
      // Its /healthz is as silent as its other paths; connections stay open.
      if (!isFrozen) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
      else chunk.toString();
    }),
  );
  const ask = async (): Promise<{ status: number; ms: number }> => {
    const since = performance.now();
    const { status } = await fetch(gateway.url, { signal: AbortSignal.timeout(HUNG_MS) });
    return { status, ms: performance.now() - since };
  };
  try {
    const first = await ask();
    expect(first.status).toBe(503);
    // At once: without the wait of the first request.
    expect((await ask()).ms).toBeLessThan(first.ms / 2);
    isFrozen = false;
    await eventually(async () => expect((await ask()).status).toBe(200));
  } finally {
    await gateway.close();
  }
}, 30_000);

test('a service that is too busy for its probe, and answers others meanwhile, is waited for', async () => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';
  let probes = 0;
  let release: (() => void) | null = null;
  const gateway = await behind((socket) =>
    socket.on('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('GET /healthz')) probes++;
      else if (release) socket.end(ok);
      else release = () => socket.end(ok);
    }),
  );
  const ask = async (): Promise<number> =>
    (await fetch(gateway.url, { signal: AbortSignal.timeout(HUNG_MS) })).status;
  try {
    const slow = ask();
    await eventually(() => expect(release).not.toBeNull());
    // Two silent probes alone would be enough to give the service up.
    for (const statuses = new Set<number>(); probes < 3; expect([...statuses]).toEqual([200]))
      statuses.add(await ask());
    release!();
    expect(await slow).toBe(200);
  } finally {
    await gateway.close();
  }
}, 30_000);

test('a client that takes nothing of a large answer does not hold up the end', async () => {
  const large = Buffer.alloc(16_000_000, 'x');
  const gateway = await behind((socket) =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${large.length}\r\n\r\n`);
      socket.write(large);
    }),
  );
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  // The first bytes have come; nothing reads them.
  await new Promise((resolve) => client.once('readable', resolve));
  await gateway.close();
  client.destroy();
}, 30_000);

/** Returns a packed answer of two pieces, in which the second piece occurs twice. */
function packedAnswer(text: string): Buffer {
  const pieces = [Buffer.from('first,'), Buffer.from(text)];
  const layout = Buffer.alloc(6 * 4);
  for (const [i, word] of [2, pieces[0]!.length, pieces[1]!.length, 0, 1, 1].entries())
    layout.writeUInt32LE(word, i * 4);
  return Buffer.concat([layout, ...pieces]);
}

async function gatewayThatGets(body: Buffer) {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-baton-packed: 24\r\ncontent-length: ${body.length}\r\n\r\n`;
  const gateway = await behind((socket) =>
    socket.on('data', (asked) => {
      expect(asked.toString('latin1')).toContain('x-baton-packed: yes');
      socket.write(head);
      socket.write(body.subarray(0, 30));
      setImmediate(() => socket.write(body.subarray(30)));
    }),
  );
  return {
    ...gateway,
    ask: () => fetch(gateway.url, { signal: AbortSignal.timeout(HUNG_MS) }),
  };
}

test('a packed answer goes to the client whole and as an ordinary one', async () => {
  const gateway = await gatewayThatGets(packedAnswer('again;'));
  try {
    const response = await gateway.ask();
    const text = await response.text();
    expect(text).toBe('first,again;again;');
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.has('x-baton-packed')).toBe(false);
  } finally {
    await gateway.close();
  }
});

test('a damaged packed answer is an error and not half an answer', async () => {
  const damaged = packedAnswer('again;');
  damaged.writeUInt32LE(9, 20);
  const gateway = await gatewayThatGets(damaged);
  try {
    const response = await gateway.ask();
    expect([response.status, await response.text()]).toEqual([500, 'internal_server_error']);
  } finally {
    await gateway.close();
  }
});

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

test.each([
  ['of all bytes', everyByte],
  ['of no byte', Buffer.alloc(0)],
  ['as large as one write', Buffer.alloc(16_384, everyByte)],
  ['larger than one write', Buffer.alloc(200_000, everyByte)],
])('an answer %s comes to the client as the service sent it', async (_name, body) => {
  const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
  const gateway = await behind((socket) =>
    socket.on('data', () => void socket.write(Buffer.concat([head, body]))),
  );
  try {
    for (const answer of [await fetch(gateway.url), await fetch(gateway.url)]) {
      expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
      expect(answer.headers.get('content-length')).toBe(String(body.length));
    }
  } finally {
    await gateway.close();
  }
});
