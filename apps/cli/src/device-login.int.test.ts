// What a program that waits for a person does with each answer of the manager. A manager of these tests answers as it is told.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@baton/client';
import { clientName, deviceLogin } from './device-login';
import { declaredClient } from './layer/declared-client';
import { quietIo } from './testing-io';

let server: Server;
/** Answers to POST /login/device/token, in turn; 'lost' breaks the connection. */
let answers: (readonly [number, object] | 'lost')[] = [];
const asked: string[] = [];
const BEGUN = {
  device_code: 'bdev-x',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://lab/device\u001b[2J',
  verification_uri_complete: 'https://lab/device#user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 0,
};
const TOKEN = { access_token: 'ctok-x', username: 'bob', expires_in: 60, token_id: 'x' };
const refusal = (code: string, more: object = {}) =>
  [400, { message: code, error_code: code, ...more }] as const;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    asked.push(body);
    const answer = request.url!.endsWith('/token') ? answers.shift()! : ([200, BEGUN] as const);
    if (answer === 'lost') request.socket.destroy();
    else response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
beforeEach(() => void asked.splice(0));
afterAll(() => void server.close());

function start() {
  const quiet = quietIo();
  const { port } = server.address() as AddressInfo;
  const client = declaredClient(createClient({ baseUrl: `http://127.0.0.1:${port}` }), 'login', [
    'beginDeviceLogin',
    'redeemDeviceLogin',
  ]);
  return { ...quiet, login: deviceLogin(quiet.io, client) };
}

test('it goes on while nobody has decided, when it was too fast, and when the manager was away for a moment', async () => {
  answers = [
    refusal('authorization_pending', { interval: 0 }),
    refusal('slow_down', { interval: 1 }),
    [503, { message: 'x', error_code: 'service_unavailable_error' }],
    [200, TOKEN],
  ];
  const { login, err } = start();
  expect(await login).toMatchObject({ username: 'bob' });
  expect(asked.map((body) => JSON.parse(body))).toEqual([
    { client_name: clientName() },
    ...Array(4).fill({ device_code: 'bdev-x' }),
  ]);
  // Text of the manager moves no cursor, and the secret of the program is shown nowhere.
  expect(err()).toContain('https://lab/device\\x1b[2J');
  expect(err()).not.toContain('bdev-x');
}, 20_000);

test('a lost connection is no end', async () => {
  answers = ['lost', [200, TOKEN]];
  expect(await start().login).toMatchObject({ username: 'bob' });
}, 20_000);

test.each([
  ['access_denied', 4],
  ['expired_token', 7],
])('%s ends it with exit code %i', async (code, exitCode) => {
  answers = [refusal(code)];
  await expect(start().login).rejects.toMatchObject({ exitCode, result: { error_code: code } });
});

test('another refusal ends it as it is', async () => {
  answers = [refusal('bad_parameters_error')];
  await expect(start().login).rejects.toMatchObject({ errorCode: 'bad_parameters_error' });
});

test('its name is what the manager accepts', () => expect(clientName()).toMatch(/^[\x20-\x7e]{1,64}$/));
