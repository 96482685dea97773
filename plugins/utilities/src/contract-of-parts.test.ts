// The contract of plugins, for the types that call HTTP APIs, keep secrets, files, configurations and lists.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { checkPlugin, type TestNode, testNode } from '@baton/plugin-sdk/testing';
import plugin from './plugin';
import { type Api, itemsApi, startApi } from './testing/items-api';
import { type SecretStore, startSecretStore } from './testing/secret-store';

let store: SecretStore;
let api: Api;
let folder: string;
const TOKEN = 'token-of-the-sample';
beforeEach(async () => {
  store = await startSecretStore();
  api = await startApi();
  folder = mkdtempSync(join(tmpdir(), 'baton-contract-'));
});
afterEach(async () => {
  await store.close();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

const FILES = {
  'calls.yaml': `rest_calls:
  - { path: /one, method: POST, headers: { Authorization: '{{ token }}' } }
  - { path: /two, method: POST, payload: { password: '{{ token }}' } }`,
  'create.yaml':
    'rest_calls: [{ path: /items, method: POST, payload: {}, response_translation: { id: [id] } }]',
  'read.yaml': "rest_calls: [{ path: '/items/{{ id }}', method: GET }]",
  'delete.yaml': "rest_calls: [{ path: '/items/{{ id }}', method: DELETE }]",
};

it('the types keep the contract', async () => {
  const make =
    (type: string, before: () => void = () => undefined) =>
    (properties: object): TestNode => {
      before();
      return testNode(plugin, type, { properties: properties as never, files: FILES });
    };
  const cleared = (): void => {
    store.secrets.clear();
    api.got.length = 0;
    api.answer = itemsApi().answer;
  };
  const connection = { host: '127.0.0.1', port: api.port, params: { token: TOKEN } };
  const lifecycle = ['create', 'configure', 'start', 'stop', 'delete'];
  const effects = (): string[] => api.lines().filter((line) => !line.startsWith('GET'));
  // Without a template for updates the object is made again: another call, with a key of its own.
  const keyed = (): string[] =>
    api.got
      .filter(({ method }) => method !== 'GET')
      .map(({ method, headers }) => `${method} ${headers['idempotency-key']}`);
  const owner = userInfo().username;
  const passing = (): void => {
    cleared();
    api.answer = () => ({ body: { ok: true } });
  };
  const calls = { template_file: 'calls.yaml' };
  const { survived, ran } = await checkPlugin(plugin, {
    samples: {
      'cloudify.nodes.rest.Requests': {
        properties: connection,
        make: make('cloudify.nodes.rest.Requests', passing),
        order: lifecycle,
        inputs: { start: calls },
        effects,
        hidden: [TOKEN],
      },
      'cloudify.nodes.rest.BunchRequests': {
        properties: connection,
        make: make('cloudify.nodes.rest.BunchRequests', passing),
        order: lifecycle,
        inputs: { create: { templates: [calls] } },
        effects,
        hidden: [TOKEN],
      },
      'cloudify.nodes.rest.Object': {
        properties: {
          ...connection,
          idempotency_header: 'Idempotency-Key',
          templates: { create: 'create.yaml', read: 'read.yaml', delete: 'delete.yaml' },
        },
        make: make('cloudify.nodes.rest.Object', cleared),
        order: ['create', 'check_status', 'check_drift', 'pull', 'update', 'heal', 'delete'],
        effects: keyed,
        hidden: [TOKEN],
      },
      'cloudify.nodes.secrets.Writer': {
        properties: { entries: { a: TOKEN } },
        make: make('cloudify.nodes.secrets.Writer', cleared),
        order: ['create', 'update', 'delete'],
        hidden: [TOKEN],
      },
      'cloudify.nodes.secrets.Reader': {
        properties: { keys: ['a'], by_reference: true },
        make: make('cloudify.nodes.secrets.Reader', () => store.secrets.set('a', TOKEN)),
        order: ['create', 'update'],
        hidden: [TOKEN],
      },
      'cloudify.nodes.File': {
        properties: {
          resource_config: { resource_path: 'read.yaml', file_path: join(folder, 'x'), owner, mode: 600 },
        },
        make: make('cloudify.nodes.File'),
      },
      'cloudify.nodes.ConfigurationLoader': {
        properties: { parameters_json: '{"a": 1}' },
        make: make('cloudify.nodes.ConfigurationLoader'),
      },
      'cloudify.nodes.resources.List': {
        properties: { resource_config: [1, 2] },
        make: make('cloudify.nodes.resources.List'),
        order: ['create', 'reserve', 'return', 'delete'],
        inputs: { reserve: { reservation_id: 'one' }, return: { reservation_id: 'one' } },
      },
      'cloudify.nodes.resources.ListItem': { make: make('cloudify.nodes.resources.ListItem') },
    },
  });
  expect(ran).toContain('cloudify.nodes.rest.Object.heal');
  expect(survived).toEqual(
    expect.arrayContaining([
      'cloudify.nodes.rest.Requests.start',
      'cloudify.nodes.rest.BunchRequests.create',
      'cloudify.nodes.rest.Object.create',
      'cloudify.nodes.secrets.Writer.create',
      'cloudify.nodes.resources.List.reserve',
      'cloudify.nodes.File.create',
    ]),
  );
});
