import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http, isMarkedError, operationErrorMark } from '../index';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
let answer: Answer;
let asked: string[];
let base: string;
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  answer(request, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked = [];
});

const status =
  (code: number, body = '', headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(body);
const json = (value: unknown): Answer =>
  status(200, JSON.stringify(value), { 'content-type': 'application/json' });
/** One answer after the other; the last one again and again. */
const inTurn = (...answers: Answer[]): Answer => {
  return (...both) => (answers.length > 1 ? answers.shift()! : answers[0]!)(...both);
};
const failureOf = async (work: Promise<unknown>): Promise<[string, string, number | null]> => {
  const thrown = await work.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
  if (!isMarkedError(thrown)) return ['unmarked', thrown.message, null];
  return [thrown[operationErrorMark], thrown.message, thrown.retryAfter];
};

it('sends JSON, a token and a query, and reads JSON, text or nothing', async () => {
  let body = '';
  answer = (request, response) => {
    request.on('data', (piece) => (body += piece));
    request.on('end', () =>
      json({ auth: request.headers.authorization, type: request.headers['content-type'] })(request, response),
    );
  };
  const api = http.with({ baseUrl: base, auth: 'token' });
  expect(await api.post('/zones', { json: { a: 1 }, query: { q: 'x y' } })).toEqual({
    auth: 'Bearer token',
    type: 'application/json',
  });
  expect([body, asked]).toEqual(['{"a":1}', ['POST /zones?q=x+y']]);
  answer = status(200, 'plain', { 'content-type': 'text/plain' });
  expect(await api.get('zones')).toBe('plain');
  answer = status(204);
  expect(await api.delete('/zones/1')).toBeNull();
});

it('missingOk makes null of 404 and 410', async () => {
  answer = status(404, 'no');
  expect(await http.delete(`${base}/a`, { missingOk: true })).toBeNull();
  expect(await failureOf(http.get(`${base}/a`))).toEqual(['fatal', `GET ${base}/a answered 404: no`, null]);
  expect(asked).toHaveLength(2);
});

it('repeats what may be repeated: 5xx of GET, not of POST', async () => {
  answer = inTurn(status(503), status(502), json({ ok: true }));
  expect(await http.get(base)).toEqual({ ok: true });
  answer = status(503, 'later');
  expect(await failureOf(http.post(`${base}/a`))).toEqual([
    'retryable',
    `POST ${base}/a answered 503: later`,
    null,
  ]);
  expect(asked.map((one) => one.slice(0, 4))).toEqual(['GET ', 'GET ', 'GET ', 'POST']);
});

it('repeats a POST that the server did not begin with', async () => {
  answer = inTurn(status(429, '', { 'retry-after': '0' }), json(1));
  expect(await http.post(base)).toBe(1);
  expect(asked).toHaveLength(2);
});

it('leaves long waits to the engine', async () => {
  answer = status(429, '', { 'retry-after': '120' });
  expect(await failureOf(http.get(base))).toEqual([
    'retryable',
    `GET ${base}/ answered 429 [retry_after=120]`,
    120,
  ]);
  expect(asked).toHaveLength(1);
});

it('does not repeat refusals, and shows no query and no credentials', async () => {
  answer = status(403, 'forbidden');
  const address = base.replace('//', '//user:pass@');
  const [kind, message] = await failureOf(http.get(`${base}/a`, { query: { key: 'secret' } }));
  expect([kind, message]).toEqual(['fatal', `GET ${base}/a answered 403: forbidden`]);
  expect((await failureOf(http.get(address)))[1]).toBe(
    'http: the address holds credentials: give them as auth, basic, or a header',
  );
  expect((await failureOf(http.get('file:///etc/passwd')))[1]).toContain('begins with http:// or https://');
});

it('a lost connection is repeated, and then retryable', async () => {
  answer = (request) => void request.socket.destroy();
  const [kind, message] = await failureOf(http.get(base, { retries: 1 }));
  expect([kind, message.startsWith(`GET ${base}/: `)]).toEqual(['retryable', true]);
  expect(asked).toHaveLength(2);
});

it('stops at an abort and at the time limit', async () => {
  const abort = new AbortController();
  answer = () => abort.abort();
  expect(await failureOf(http.get(base, { signal: abort.signal }))).toEqual([
    'retryable',
    `GET ${base}/: the operation is stopped`,
    null,
  ]);
  answer = () => undefined;
  expect(await failureOf(http.get(base, { timeoutMs: 20, retries: 0 }))).toEqual([
    'retryable',
    `GET ${base}/: no answer within 0.02 s`,
    null,
  ]);
  server.closeAllConnections();
});

it('refuses answers that are too long or no JSON', async () => {
  answer = (_, response) => void response.writeHead(200).end(Buffer.alloc(17 * 1024 * 1024, 'a'));
  expect((await failureOf(http.get(base)))[1]).toContain('answered more than 16777216 bytes');
  answer = status(200, '{', { 'content-type': 'application/json' });
  expect((await failureOf(http.get(base)))[1]).toContain('answered JSON that cannot be read');
});
