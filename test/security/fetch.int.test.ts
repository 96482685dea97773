// S15: servers of archives and imports may answer anything: time and size are limited, nothing of a broken answer is kept, and a
// redirect from TLS to plain text is refused.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Answered, type Caller, callerOf } from './caller';

const PLAIN = 'tosca_definitions_version: cloudify_dsl_1_4\n';
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let fleet: Fleet;
let caller: Caller;
let dir: string;
let plain: { server: Server; url: string };
let tls: { server: Server; url: string };
let answerWith: Handler;

async function listening(server: Server, protocol: string): Promise<{ server: Server; url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `${protocol}://localhost:${(server.address() as AddressInfo).port}` };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'baton-hostile-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...names],
    { stdio: 'ignore' },
  );
  const handler: Handler = (request, response) => answerWith(request, response);
  plain = await listening(createServer(handler), 'http');
  tls = await listening(
    createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, handler),
    'https',
  );
  fleet = await startFleet({
    mode: 'standalone',
    workers: 0,
    env: {
      BATON_LOG_LEVEL: 'error',
      BATON_ALLOW_PRIVATE_URLS: 'true',
      BATON_DOWNLOAD_TIME: '2s',
      BATON_BLUEPRINT_MAX_BYTES: '100000',
      BATON_PLUGIN_MAX_BYTES: '100000',
      BATON_SNAPSHOT_MAX_BYTES: String(1 << 20),
      NODE_EXTRA_CA_CERTS: cert,
    },
  });
  caller = callerOf(fleet);
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  for (const { server } of [plain, tls]) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

const fetching: [string, (url: string) => Promise<Answered>][] = [
  [
    'blueprint_archive_url',
    (url) => caller.send(caller.admin, 'PUT', `/blueprints/far?blueprint_archive_url=${url}`),
  ],
  ['plugin_archive_url', (url) => caller.send(caller.admin, 'POST', `/plugins?plugin_archive_url=${url}`)],
  [
    'snapshot_archive_url',
    (url) => caller.send(caller.admin, 'PUT', `/snapshots/far/archive?snapshot_archive_url=${url}`),
  ],
  ['imports', (url) => importing(url)],
];
const importing = (url: string): Promise<Answered> =>
  caller.send(
    caller.admin,
    'PUT',
    '/blueprints/far',
    undefined,
    tgz({ 'blueprint.yaml': `${PLAIN}imports: ['${url}']\n` }),
  );

const answers: [string, Handler][] = [
  [
    'an endless body',
    (_request, response) => {
      const chunk = Buffer.alloc(65_536, 'a: b\n');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    },
  ],
  [
    'a byte now and then',
    (_request, response) => {
      const drip = setInterval(() => response.write('#'), 100);
      response.once('close', () => clearInterval(drip));
    },
  ],
  ['silence', () => undefined],
  [
    'less than it announced',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '5000' }).write(PLAIN);
      response.socket?.end();
    },
  ],
  [
    'a redirect from https to http',
    (request, response) => {
      if (request.url === '/down') response.writeHead(302, { location: `${plain.url}/end` }).end();
      else response.end(PLAIN);
    },
  ],
];

describe.each(fetching)('%s', (_field, ask) => {
  test.each(answers)(
    '%s: refused soon',
    async (name, answer) => {
      answerWith = answer;
      const from = performance.now();
      const answered = await ask(name.includes('https') ? `${tls.url}/down` : `${plain.url}/x`);
      expect([400, 413]).toContain(answered.status);
      expect(performance.now() - from).toBeLessThan(10_000);
    },
    15_000,
  );
});

test('a page of HTML is no blueprint and no archive, and nothing of a broken answer is kept for the next time', async () => {
  const body = 'node_types: {far.type: {}}\n';
  const broken: Handler[] = [
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>'),
    (_request, response) => {
      response.writeHead(200, { 'content-length': String(body.length + 10) }).write(body);
      response.socket?.end();
    },
  ];
  for (const answer of broken) {
    answerWith = answer;
    expect((await importing(`${plain.url}/types.yaml`)).body.error_code).toBe('invalid_blueprint_error');
  }
  answerWith = (_request, response) => response.end(body);
  expect((await importing(`${plain.url}/types.yaml`)).status).toBe(201);
  answerWith = broken[0]!;
  for (const [field, ask] of fetching.slice(0, 2))
    expect([field, (await ask(`${plain.url}/x`)).status]).not.toEqual([field, 201]);
  expect((await caller.must(caller.admin, 'GET', '/plugins')).items).toEqual([]);
}, 30_000);

test('TLS is followed where the certificate is trusted, and plain text is not', async () => {
  answerWith = (_request, response) => response.end(PLAIN.replace(/.*\n/, 'inputs: {}\n'));
  await caller.send(caller.admin, 'DELETE', '/blueprints/far');
  expect((await importing(`${tls.url}/types.yaml`)).status).toBe(201);
});
