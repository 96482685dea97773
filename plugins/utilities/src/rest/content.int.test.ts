import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type Api, type Got, startApi } from '../testing/items-api';

let api: Api;
beforeEach(async () => {
  api = await startApi();
});
afterEach(async () => await api.close());

const run = async (call: object, properties: object = {}, inputs: object = {}): Promise<Got> => {
  await testNode(plugin, 'cloudify.nodes.rest.Requests', {
    properties: { hosts: ['127.0.0.1'], port: api.port, ...properties } as never,
    files: {
      't.yaml': JSON.stringify({
        rest_calls: [{ path: '/', method: 'POST', response_format: 'raw', ...call }],
      }),
      'body.json': '{"of": "the file"}',
      'logo.bin': 'LOGO',
    },
  }).run('create', { template_file: 't.yaml', ...inputs } as never);
  return api.got.at(-1)!;
};

it.each<[string, object, string, string | undefined]>([
  ['JSON', { payload: { a: [1, null] } }, '{"a":[1,null]}', 'application/json'],
  ['JSON of a text', { payload: 'x' }, '"x"', 'application/json'],
  [
    'another kind of JSON',
    { payload: {}, headers: { 'Content-Type': 'application/own+json' } },
    '{}',
    'application/own+json',
  ],
  ['a raw text', { payload: '<a/>', payload_format: 'raw' }, '<a/>', undefined],
  [
    'a raw dictionary as a form',
    { payload: { a: 'x y', b: 1 }, payload_format: 'raw' },
    'a=x+y&b=1',
    'application/x-www-form-urlencoded',
  ],
  ['a file', { payload_raw: 'body.json', payload_format: 'raw' }, '{"of": "the file"}', undefined],
  ['a file as JSON', { raw_payload: 'body.json' }, '{"of": "the file"}', 'application/json'],
  ['nothing', {}, '', undefined],
])('sends %s', async (_, call, body, type) => {
  const got = await run(call);
  expect([got.body, got.headers['content-type']]).toEqual([body, type]);
});

it('sends parameters and an urlencoded payload as a query, and never the variables of the node', async () => {
  const got = await run(
    { params: { q: 'x y', n: 1 }, payload: { p: 'ä' }, payload_format: 'urlencoded' },
    { params: { PASSWORD: 'variable' } },
  );
  expect([got.url, got.body]).toEqual(['/?q=x+y&n=1&p=%C3%A4', '']);
});

it('sends files as a form', async () => {
  const { headers, body } = await run({
    files: { inline: 'text', named: ['n.txt', 'content', 'text/plain'] },
    files_raw: { logo: 'logo.bin' },
    payload: { field: 'value' },
    payload_format: 'raw',
  });
  const form = await new Response(body, { headers: { 'content-type': headers['content-type']! } }).formData();
  expect(form.get('field')).toBe('value');
  const named = form.get('named') as File;
  expect([named.name, named.type, await named.text()]).toEqual(['n.txt', 'text/plain', 'content']);
  expect(await (form.get('logo') as File).text()).toBe('LOGO');
  expect(await (form.get('inline') as File).text()).toBe('text');
});

it('shows user and password, which stand nowhere else', async () => {
  const node = testNode(plugin, 'cloudify.nodes.rest.Requests', {
    properties: { host: '127.0.0.1', port: api.port },
    files: { 't.yaml': 'rest_calls: [{ path: /, method: GET, auth: { user: u, password: "{{ PW }}" } }]' },
  });
  await node.run('create', { template_file: 't.yaml', params: { PW: 'pass-word-1' } });
  expect(api.got[0]!.headers.authorization).toBe(`Basic ${Buffer.from('u:pass-word-1').toString('base64')}`);
  expect(JSON.stringify([node.log, node.runtimeProperties])).not.toContain('pass-word-1');
  api.answer = () => ({ status: 400, body: 'no user with pass-word-1' });
  const refused = node.run('create', {
    template_file: 't.yaml',
    params: { PW: 'pass-word-1' },
    force_rerun: true,
  });
  await expect(refused).rejects.toThrow('no user with ********');
});

it('takes the connection of the input auth before that of the node, and that of the call before both', async () => {
  await run({ method: 'PUT' }, { hosts: ['192.0.2.1'] }, { auth: { hosts: ['127.0.0.1'] } });
  await run(
    { host: '127.0.0.1', hosts: ['127.0.0.1'], port: String(api.port) },
    { hosts: ['192.0.2.1'], port: 1 },
  );
  expect(api.lines()).toEqual(['PUT /', 'POST /']);
});

describe('over TLS', () => {
  let server: Server;
  let folder: string;
  let port: number;
  const pem = (name: string): string => readFileSync(join(folder, name), 'utf8');
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'baton-rest-'));
    for (const name of ['server', 'client'])
      execFileSync(
        'openssl',
        [
          ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
          ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'],
          ...['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)],
        ],
        { stdio: 'ignore' },
      );
    const tls = {
      key: pem('server.key'),
      cert: pem('server.pem'),
      ca: pem('client.pem'),
      requestCert: true,
      rejectUnauthorized: false,
    };
    server = createServer(tls, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate() ?? {};
      response.end(JSON.stringify({ client: subject?.CN ?? null }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clientOf = async (properties: object): Promise<unknown> => {
    const node = testNode(plugin, 'cloudify.nodes.rest.Requests', {
      properties: { host: '127.0.0.1', port, ssl: true, ...properties } as never,
      files: {
        't.yaml':
          'rest_calls: [{ path: /, method: GET, response_format: json, response_translation: { client: [c] } }]',
        'ca.pem': pem('server.pem'),
      },
    });
    await node.run('create', { template_file: 't.yaml' });
    return node.runtimeProperties.c;
  };

  it('believes a server by its authority alone, as text, file of the blueprint or file of the machine', async () => {
    await expect(clientOf({})).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
    for (const verify of [false, 'false', pem('server.pem'), 'ca.pem', join(folder, 'server.pem')])
      expect(await clientOf({ verify })).toBeNull();
    await expect(clientOf({ verify: pem('client.pem') })).rejects.toThrow();
    await expect(clientOf({ verify: '/no/such/file' })).rejects.toThrow('verify: /no/such/file is no PEM');
  });

  it('shows a certificate', async () => {
    const both = pem('client.pem') + pem('client.key');
    expect(await clientOf({ verify: false, cert: both })).toBe('client');
    await expect(clientOf({ verify: false, cert: pem('client.pem') })).rejects.toThrow(
      'cert: expected a certificate and its private key',
    );
  });
});
