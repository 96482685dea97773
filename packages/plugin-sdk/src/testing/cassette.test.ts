import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { definePlugin, nodeType, sensitive } from '../index';
import { cassette, testNode } from '.';

const SECRET = 'pass word/with+signs"';
const MADE = 'made-by-the-server-0123456789';
let requests: string[];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += String(piece);
  requests.push(`${request.method} ${request.url}`);
  const answers: Record<string, object> = {
    'POST /login': { access_token: MADE, token_type: 'Bearer', echo: body },
    'GET /items': { items: [1, 2], seen: request.headers.authorization },
  };
  const answer = answers[`${request.method} ${request.url!.split('?')[0]}`];
  response.writeHead(answer ? 200 : 404, {
    'content-type': 'application/json',
    'set-cookie': `id=${MADE}-cookie`,
  });
  response.end(JSON.stringify(answer ?? {}));
});
let folder: string;
let file: string;
let base: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'baton-cassette-'));
  file = join(folder, 'tapes/items.json');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  requests = [];
});

const plugin = () =>
  definePlugin({
    name: 'p',
    version: '1.0.0',
    secrets: ['password'],
    types: {
      'p.T': nodeType({
        properties: z.object({
          path: z.string().default('/items'),
          code: sensitive(z.string()).default('0000'),
        }),
        runtime: z.object({ token: sensitive(z.string()), count: z.number(), said: z.string() }),
        async create({ http, secret, runtime, properties, exec }) {
          const password = await secret('password');
          const { code } = properties;
          const body = new URLSearchParams({ password, code }).toString();
          const login = await http.post<{ access_token: string; token_type: string }>(`${base}/login`, {
            body,
          });
          runtime.token = login.access_token;
          if (login.token_type !== 'Bearer') throw new Error('another type');
          const query = { token: login.access_token };
          const { items } = await http.get<{ items: number[] }>(`${base}${properties.path}`, {
            auth: login.access_token,
            query,
          });
          runtime.count = items.length;
          const script = 'echo "with $1"; echo "$TOKEN" >&2; exit 3';
          const env = { TOKEN: login.access_token };
          const lines: string[] = [];
          const onLine = (line: string, stream: string) => void lines.push(`${stream}: ${line}`);
          const { exitCode } = await exec('sh', ['-c', script, 'sh', code], {
            env,
            onLine,
            exitCodes: { 3: 'ok' },
          });
          runtime.said = `${exitCode}, ${lines.length} lines`;
        },
        delete: () => undefined,
      }),
    },
  });
const node = (record: boolean, password: string, properties = {}) =>
  testNode(plugin(), 'p.T', {
    secrets: { password },
    properties: { code: record ? 'code-4711' : 'other-code', ...properties },
    cassette: cassette(file, { record }),
  });

it('records what servers and programs answer, and no secret', async () => {
  await node(true, SECRET).run('create');
  expect(requests).toEqual(['POST /login', `GET /items?token=${MADE}`]);
  const text = readFileSync(file, 'utf8');
  for (const hidden of [SECRET, MADE, 'code-4711', encodeURIComponent(SECRET), 'pass+word', 'pass word'])
    expect(text).not.toContain(hidden);
  expect(text).toContain('{{secret:password}}');
});

it('replays without the outside, with other values of the secrets', async () => {
  const replayed = node(false, 'not the real one');
  await replayed.run('create');
  expect(requests).toEqual([]);
  expect(replayed.runtimeProperties).toMatchObject({ count: 2, said: '3, 2 lines' });
  expect([...replayed.runtimeSecrets.values()]).toEqual([expect.stringMatching(/^invented-hidden-\d+$/)]);
});

it('a request that is not recorded fails at once, with the nearest one and without secrets', async () => {
  const failure: Error = await node(false, 'not the real one', { path: '/item' })
    .run('create')
    .then(
      () => new Error('it did not fail'),
      (error) => error,
    );
  expect(failure.name).toBe('TestFailure');
  expect(failure.message).toMatch(
    /^items\.json has no answer to GET http:\S+\/item\?token=\S+; the nearest is GET http:\S+\/items\?token=/,
  );
  expect(failure.message).toContain('Record with BATON_RECORD=1');
});

it('each answer is given once, and a missing or strange file is said', async () => {
  const tape = cassette(file, { record: false });
  const options = {
    secrets: { password: 'not the real one' },
    properties: { code: 'other-code' },
    cassette: tape,
  };
  await testNode(plugin(), 'p.T', options).run('create');
  await expect(testNode(plugin(), 'p.T', options).run('create')).rejects.toThrow('has 1 answers to POST');
  writeFileSync(file, '{"format":7,"entries":[]}');
  await expect(node(false, 'x').run('create')).rejects.toThrow('has the format 7; known: 1');
  rmSync(file);
  await expect(node(false, 'x').run('create')).rejects.toThrow('there is no cassette');
});
