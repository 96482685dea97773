import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { http } from '../index';

interface Asked {
  line: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let asked: Asked[];
let answer: (
  request: Asked,
) => [status: number, headers: Record<string, string | string[]>, body?: string | Buffer];
const listener: RequestListener = (request, response) => void answered(request, response);
const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const one = {
    line: `${request.method} ${request.url}`,
    headers: request.headers,
    body: Buffer.concat(pieces),
  };
  asked.push(one);
  const [status, headers, body] = answer(one);
  response.writeHead(status, headers).end(body);
};
const start = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const [here, elsewhere] = [createServer(listener), createServer(listener)];
let base: string;
let other: string;
beforeAll(async () => {
  base = await start(here);
  other = await start(elsewhere);
});
afterAll(async () => {
  for (const server of [here, elsewhere]) await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked = [];
});
const lines = (): string[] => asked.map(({ line }) => line);

describe('request', () => {
  it('returns an answer of any status with headers, cookies, text, bytes and JSON', async () => {
    answer = () => [503, { 'X-Kind': 'full', 'set-cookie': ['a=1; Path=/', 'b=x=y'] }, '{"later":true}'];
    const got = await http.request('post', `${base}/a`);
    expect([got.status, got.headers['x-kind'], got.cookies]).toEqual([503, 'full', { a: '1', b: 'x=y' }]);
    expect([got.text, got.json(), got.bytes.length]).toEqual(['{"later":true}', { later: true }, 14]);
    answer = () => [404, {}, 'no'];
    const missing = await http.request('GET', base, { missingOk: true });
    expect([missing.status, missing.text]).toEqual([404, 'no']);
    expect(() => missing.json()).toThrow(/answered JSON that cannot be read/);
    expect(lines()).toEqual(['POST /a', 'GET /']);
  });

  it('sends bytes as they are, with their kind, also with GET', async () => {
    answer = () => [200, {}];
    const body = new Uint8Array([0, 255, 13, 10]);
    for (const method of ['POST', 'GET'])
      await http.request(method, base, {
        body,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
      });
    expect(
      asked.map((one) => [[...one.body], one.headers['content-type'], one.headers['content-length']]),
    ).toEqual(Array(2).fill([[0, 255, 13, 10], 'multipart/form-data; boundary=x', '4']));
  });

  it('shows name and password, and takes one kind of login only', async () => {
    answer = () => [200, {}];
    await http.request('GET', base, { basic: { user: 'me', password: 'p:w' } });
    expect(asked[0]!.headers.authorization).toBe(`Basic ${Buffer.from('me:p:w').toString('base64')}`);
    const both = http.get(base, { auth: 't', basic: { user: 'a', password: 'b' } });
    await expect(both).rejects.toThrow('auth and basic are both given');
  });

  it('unpacks, and counts what was unpacked', async () => {
    answer = () => [200, { 'content-encoding': 'gzip' }, gzipSync('a'.repeat(100_000))];
    expect((await http.request('GET', base)).text).toHaveLength(100_000);
    await expect(http.request('GET', base, { maxBytes: 1000 })).rejects.toThrow('more than 1000 bytes');
    answer = () => [200, { 'content-encoding': 'zip' }, 'x'];
    await expect(http.request('GET', base)).rejects.toThrow('packed with zip; known: gzip');
  });

  it('tries a lost connection again, and then says that it was lost', async () => {
    here.once('connection', (socket) => socket.destroy());
    answer = () => [200, {}, 'here'];
    expect((await http.request('GET', base, { headers: { connection: 'close' } })).text).toBe('here');
    here.once('connection', (socket) => socket.destroy());
    await expect(http.request('POST', base, { headers: { connection: 'close' } })).rejects.toMatchObject({
      exceptionType: 'RecoverableError',
    });
  });

  it.each([
    [{ headers: { a: 'x\ny' } }, /Invalid character in header/],
    [{ tls: { cert: 'x' } }, /cert and key belong together/],
    [{ tls: { ca: 'secret text' } }, /^http: tls.ca: expected PEM$/],
    [{ proxy: 'socks5://h:1' }, /proxy: expected http:/],
  ])('refuses wrong options for good: %j', async (options, message) => {
    const failure: Error = await http.request('GET', base, options).then(
      () => new Error('it did not fail'),
      (error) => error,
    );
    expect(failure).toMatchObject({
      exceptionType: 'NonRecoverableError',
      message: expect.stringMatching(message),
    });
    await expect(http.request('G T', base)).rejects.toThrow('method: expected a name');
  });
});

describe('redirects', () => {
  const to = (place: string, status = 302) =>
    (({ line }: Asked) =>
      line.endsWith('/end') ? [200, {}, 'end'] : [status, { location: place }]) as typeof answer;
  const secrets = { auth: 'token', headers: { 'X-Api-Key': 'k', cookie: 'c=1', 'accept-language': 'de' } };

  it('on the same server are followed with everything', async () => {
    answer = to('/end', 307);
    expect(await http.put(`${base}/a`, { ...secrets, json: 1 })).toBe('end');
    expect(asked[1]).toMatchObject({
      line: 'PUT /end',
      headers: { authorization: 'Bearer token', 'x-api-key': 'k' },
    });
    expect(asked[1]!.body.toString()).toBe('1');
  });

  it('to another server carry no credentials', async () => {
    answer = to(`${other}/end`);
    expect(await http.get(`${base}/a`, secrets)).toBe('end');
    const { headers } = asked[1]!;
    expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-language', 'connection', 'host']);
  });

  it('to another server carry no body: such a redirect is the answer', async () => {
    answer = to(`${other}/end`, 308);
    expect((await http.request('POST', `${base}/a`, { body: 'password' })).status).toBe(308);
    await expect(http.post(`${base}/a`, { json: 1 })).rejects.toThrow('answered 308');
    expect(lines()).toEqual(['POST /a', 'POST /a']);
  });

  it('of a POST become a GET without a body', async () => {
    answer = to('/end', 303);
    expect(await http.post(`${base}/a`, { json: { a: 1 } })).toBe('end');
    expect(asked[1]).toMatchObject({ line: 'GET /end', body: Buffer.alloc(0) });
    expect(asked[1]!.headers).not.toHaveProperty('content-type');
  });

  it('end somewhere, and need not be followed', async () => {
    answer = to('/again');
    await expect(http.get(`${base}/a`)).rejects.toThrow(`GET ${base}/a was redirected more than 10 times`);
    expect(asked).toHaveLength(11);
    expect((await http.request('GET', base, { redirects: 0 })).headers.location).toBe('/again');
  });

  it.each(['file:///etc/passwd', 'http://me:pw@127.0.0.1/', 'http://['])(
    'to %s are not followed',
    async (place) => {
      answer = to(place);
      expect((await http.request('GET', base)).status).toBe(302);
    },
  );
});
