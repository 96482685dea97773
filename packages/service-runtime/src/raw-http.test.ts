import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpApp } from '@baton/http';
import { silentLog } from '@baton/kernel';
import { withPlainPaths } from './raw-http';

let app: HttpApp;
let port: number;
beforeAll(async () => {
  app = withPlainPaths((_request, response) => void response.end('handled'), {}, silentLog);
  port = await app.listen('127.0.0.1', 0);
});
afterAll(async () => await app.close());

/** What a server answers to these bytes. */
async function answerTo(sent: string): Promise<{ status: number; body: unknown }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toContain('content-type: application/json');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

test.each([
  ['an address that is too long', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`, 431],
  ['what is no HTTP', 'rubbish\r\n\r\n', 400],
])('%s is refused as JSON', async (_what, sent, status) => {
  expect(await answerTo(sent)).toEqual({
    status,
    body: {
      message: expect.any(String),
      expected: expect.any(String),
      error_code: 'bad_parameters_error',
      server_traceback: null,
    },
  });
});
