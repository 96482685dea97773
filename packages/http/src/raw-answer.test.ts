import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { defineRoutes } from '@baton/contracts';
import { RawJson, silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import {
  bindRoutes,
  createHttpApp,
  type HttpApp,
  packedHeader,
  principalHeader,
  signPrincipal,
  unpackPieces,
} from './index';
import { ann, key } from './testing/ann';

const routes = defineRoutes([
  {
    owner: 'catalog',
    permission: 'blueprint_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary: '',
    spec: '',
    id: 'getThings',
    method: 'GET',
    path: '/things/:count',
    status: 200,
  },
] as const);
const small = new RawJson('{"n":"é"}');
const large = new RawJson(JSON.stringify({ text: 'ü'.repeat(5_000) }));

let app: HttpApp;
let origin: string;
beforeAll(async () => {
  app = createHttpApp({
    service: 'catalog',
    routes: bindRoutes(routes, {
      getThings: ({ params }) => ({
        items: Array.from({ length: Number(params.count) }, (_, i) => ({ i, small, large })),
      }),
    }),
    trust: derivedTrust('catalog', key),
    log: silentLog,
    wire: 'spec',
  });
  origin = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
});
afterAll(() => app.close());

const ask = async (count: number, more: Record<string, string> = {}) =>
  fetch(`${origin}/api/v3.1/things/${count}`, {
    headers: {
      [principalHeader]: await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog'),
      'x-request-id': 'my-id',
      ...more,
    },
  });

test.each([0, 1, 40])(
  'an answer with %d raw parts, joined or in pieces, has all its bytes and headers',
  async (count) => {
    const answer = await ask(count);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).toBe('my-id');
    expect(JSON.parse(bytes.toString('utf8'))).toEqual({
      items: Array.from({ length: count }, (_, i) => ({
        i,
        small: { n: 'é' },
        large: { text: 'ü'.repeat(5_000) },
      })),
    });
  },
);

test('who can put it together again gets an answer in which what repeats is sent once', async () => {
  const plain = Buffer.from(await (await ask(40)).arrayBuffer());
  const answer = await ask(40, { [packedHeader]: 'yes' });
  const sent = Buffer.from(await answer.arrayBuffer());
  expect(sent.length).toBeLessThan(plain.length / 10);
  expect(Buffer.concat(unpackPieces([sent], Number(answer.headers.get(packedHeader))))).toEqual(plain);
});

test('a stop waits for a large answer that a slow client is still reading', async () => {
  const { port } = new URL(origin);
  const client = connect(Number(port), '127.0.0.1');
  client.write(
    `GET /api/v3.1/things/2000 HTTP/1.1\r\nhost: baton\r\n${principalHeader}: ${await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog')}\r\n\r\n`,
  );
  const [first] = (await once(client, 'data')) as [Buffer];
  client.pause();
  const head = first.indexOf('\r\n\r\n') + 4;
  const length = Number(/content-length: (\d+)/.exec(first.toString('latin1', 0, head))?.[1]);
  let received = first.length - head;
  const closed = app.close();
  await turn();
  client.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  client.resume();
  await once(client, 'close');
  expect(received).toBe(length);
  await closed;
});
