// What neighbours on the loopback could try at the port of ctx: it is open to every account of the machine.
import { connect, type Socket } from 'node:net';
import { eventually } from '@baton/testkit/eventually';
import { clientReply, MAX_BODY_BYTES } from './client-wire';
import { type CtxHost, createCtxHost } from './ctx-host';

let host: CtxHost;
let port: number;
let bodies: string[];
const sockets: Socket[] = [];

beforeEach(async () => {
  host = createCtxHost();
  port = await host.listen();
  bodies = [];
  host.open('/secret', {
    http: (request, response) => void response.end(`http ${request.url}`),
    client: async ({ body, isLines }) => {
      try {
        bodies.push(body().toString());
        return clientReply({ text: `said ${isLines}`, exit: 0 });
      } catch (error) {
        return clientReply({ text: (error as Error).message, exit: 1 });
      }
    },
  });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  host.close();
});

/** Sends the parts, each when the one before has left, and returns what comes back until the end. */
async function told(...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.setNoDelay(true).on('error', () => undefined);
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  await ended;
  return text;
}

it('takes calls of the client, whole or in pieces, and requests of HTTP at the same port', async () => {
  expect(await told('CTX /secret args 3\nabc')).toBe('0 10\nsaid false');
  expect(await told('CTX /sec', 'ret lines', ' 6\nabc', 'def')).toBe('0 9\nsaid true');
  expect(await told('CTX /secret args 0\n')).toBe('0 10\nsaid false');
  expect(bodies).toEqual(['abc', 'abcdef', '']);
  const answer = await fetch(`http://127.0.0.1:${port}/secret/wf`, { method: 'POST', body: 'x' });
  expect(await answer.text()).toBe('http /secret/wf');
});

it.each([
  ['another path', 'CTX /guessed args 3\nabc'],
  ['no path', 'CTX  args 3\nabc'],
  ['another kind', 'CTX /secret shell 3\nabc'],
  ['no length', 'CTX /secret args x\nabc'],
  ['a negative length', 'CTX /secret args -3\nabc'],
  ['a head without end', `CTX /secret ${'a'.repeat(2_000)}`],
])('closes a connection with %s, and calls nothing', async (_, text) => {
  expect(await told(text)).toBe('');
  expect(bodies).toEqual([]);
});

it('reads a body that is too large to its end and refuses it', async () => {
  const piece = Buffer.alloc(8 * 1024 * 1024, 'x');
  const bytes = MAX_BODY_BYTES + piece.length;
  const pieces = Array.from({ length: bytes / piece.length }, () => piece);
  expect(await told(`CTX /secret args ${bytes}\n`, ...pieces)).toMatch(/^1 \d+\none call of ctx may carry/);
  expect(bodies).toEqual([]);
}, 20_000);

it('ends calls that are under way when the run ends, and answers nothing afterwards', async () => {
  const place = host.open('/other', {
    http: () => undefined,
    client: () => new Promise(() => undefined),
  });
  const waiting = [told('CTX /other args 3\nabc'), told('CTX /other args 30\nabc')];
  await eventually(() => expect(sockets).toHaveLength(2));
  // Both have reached the host once a third call, sent after them, is answered.
  await told('CTX /secret args 1\nx');
  place.close();
  expect(await Promise.all(waiting)).toEqual(['', '']);
  expect(await told('CTX /other args 1\nx')).toBe('');
});

it('closes every connection with the host, also those that have said nothing', async () => {
  const silent = told();
  const half = told('CTX /sec');
  await told('CTX /secret args 1\nx');
  host.close();
  expect(await Promise.all([silent, half])).toEqual(['', '']);
});
