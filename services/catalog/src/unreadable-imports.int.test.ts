// Imports that cannot be read: the error names the import, the reason, and the place in the blueprint that imports it.
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { blueprintTgz } from './testing/archives';
import { startCatalog, type TestCatalog } from './testing/catalog-setup';
import { bundle } from './testing/plugin-archives';

jest.setTimeout(60_000);

const TOO_LARGE = 4 * 1024 * 1024 + 1;
let catalog: TestCatalog;
let server: http.Server;
let address: string;
beforeAll(async () => {
  server = http.createServer((request, response) => {
    if (request.url === '/page') response.end('<!doctype html><p>log in</p>');
    else if (request.url === '/text') response.end('only a text');
    else if (request.url === '/broken') response.end('inputs: [1,');
    else if (request.url === '/large') response.end(Buffer.alloc(TOO_LARGE, '#'));
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  catalog = await startCatalog({ env: { BATON_ALLOW_PRIVATE_URLS: 'true' } });
  for (const version of ['1.0', '1.1'])
    await catalog.call('POST', '/plugins', {
      raw: await bundle(version),
      contentType: 'application/octet-stream',
    });
});
afterAll(async () => {
  await catalog.close();
  server.close();
});

async function diagnosticsOf(imported: string, at = catalog) {
  const answer = await at.call('PUT', '/blueprints/b', {
    raw: await blueprintTgz({
      'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4\nimports:\n  - cloudify/types/types.yaml\n  - "${imported}"\n`,
    }),
    contentType: 'application/octet-stream',
  });
  expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_blueprint_error']);
  return answer.body as { message: string; diagnostics: Record<string, unknown>[] };
}

/** Returns a port on which no server listens. */
async function closedPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

test.each([
  ['a missing document', 'http://{address}/none', /answered 404/],
  ['a page', 'http://{address}/page', /\(HTML\)/],
  ['a large document', 'http://{address}/large', /larger than 4194304 bytes/],
  ['a closed port', 'http://127.0.0.1:{closed}/a.yaml', /connection was refused/],
  ['a server without TLS', 'https://{address}/a.yaml', /\(TLS: \w+\)/],
  ['an unknown name', 'http://no-such-host.invalid/a.yaml', /\(DNS\)/],
])('%s', async (_what, template, reason) => {
  const url = template.replace('{address}', address).replace('{closed}', String(await closedPort()));
  const { message, diagnostics } = await diagnosticsOf(url);
  expect(message).toMatch(reason);
  expect(message).toContain(`"${url}"`);
  expect(message).toContain('[blueprint.yaml:4:5]');
  expect(diagnostics).toEqual([
    expect.objectContaining({ file: 'blueprint.yaml', line: 4, column: 5, path: 'imports[1]', value: url }),
  ]);
});

test.each(['text', 'broken'])('what is no blueprint: %s', async (name) => {
  const url = `http://${address}/${name}`;
  const { diagnostics } = await diagnosticsOf(url);
  expect(diagnostics).toEqual([
    expect.objectContaining({ file: url, line: 1 }),
    expect.objectContaining({ file: 'blueprint.yaml', line: 4, column: 5, value: url }),
  ]);
});

test('an address that is not public, where only those are allowed', async () => {
  const guarded = await startCatalog();
  try {
    const { message } = await diagnosticsOf(`http://${address}/text`, guarded);
    expect(message).toMatch(/must lead to a public http or https address \[blueprint.yaml:4:5\]/);
  } finally {
    await guarded.close();
  }
});

test.each([
  [
    'plugin:x-plugin?version=>=2',
    /version >=2 is asked for, installed is 1\.1 \(debian\), 1\.0 \(debian\)/,
    undefined,
  ],
  [
    'plugin:x-plugin?version=1.0&distribution=beos',
    /version 1\.0 and distribution beos is asked for/,
    undefined,
  ],
  ['plugin:y-plugin', /no plugin "y-plugin" is installed/, 'x-plugin'],
])('%s', async (imported, reason, nearest) => {
  const { message, diagnostics } = await diagnosticsOf(imported);
  expect(message).toMatch(reason);
  expect(message).toContain('[blueprint.yaml:4:5]');
  expect(diagnostics[0]!.nearest).toEqual(nearest);
});
