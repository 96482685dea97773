import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpWith } from '../tools/http';
import { managerSecrets } from './secret-store';

let status: number;
let answer: string;
let asked: string[];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += String(piece);
  asked.push(`${request.method} ${request.url} ${body}`.trim());
  response.writeHead(status, { 'content-type': 'application/json' }).end(answer);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  [status, answer, asked] = [200, '{"value":"v"}', []];
});
const store = managerSecrets(() =>
  httpWith({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, retries: 0 }),
);

it('makes or changes a secret of the tenant', async () => {
  await store.write('a.b', 'text');
  expect(asked).toEqual(['PUT /secrets/a.b {"value":"text","update_if_exists":true,"visibility":"tenant"}']);
});

it('reads and removes, also what is not there', async () => {
  expect(await store.read('x')).toBe('v');
  status = 404;
  expect(await store.read('x')).toBeUndefined();
  await store.remove('x');
  expect(asked.at(-1)).toBe('DELETE /secrets/x');
});

it('a refusal says whose right is missing, for good; a hidden value is no value', async () => {
  answer = '{"value":""}';
  await expect(store.read('x')).rejects.toThrow(
    'the execution may not read the secret x: its value is hidden',
  );
  [status, answer] = [403, '{"message":"no permission secret_create"}'];
  await expect(store.write('x', 'hidden-value')).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
    message:
      'the execution may not write the secret x, which holds a sensitive runtime property: the user who started it needs a role that ' +
      'may write secrets',
  });
  status = 503;
  await expect(store.remove('x')).rejects.toMatchObject({ exceptionType: 'RecoverableError' });
});
