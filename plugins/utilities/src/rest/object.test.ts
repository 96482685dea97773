import { crashEverywhere, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type Api, itemsApi, startApi } from '../testing/items-api';

let api: Api;
let items: ReturnType<typeof itemsApi>['items'];
beforeEach(async () => {
  const made = itemsApi();
  items = made.items;
  api = await startApi(made.answer);
});
afterEach(async () => await api.close());

const FILES = {
  'create.yaml': `rest_calls:
  - path: /items
    method: POST
    payload: '{% if true %}{{ expected | tojson }}{% endif %}'
    response_translation: { id: [id] }`,
  'read.yaml': "rest_calls: [{ path: '/items/{{ id }}', method: GET }]",
  'update.yaml': `rest_calls:
  - path: /items/{{ id }}
    method: PATCH
    payload: '{% if true %}{{ changes | tojson }}{% endif %}'`,
  'delete.yaml': "rest_calls: [{ path: '/items/{{ id }}', method: DELETE }]",
};
const TEMPLATES = { create: 'create.yaml', read: 'read.yaml', update: 'update.yaml', delete: 'delete.yaml' };
const EXPECTED = { name: 'web', size: 2 };
const node = (properties: object = {}, runtime: object = {}) =>
  testNode(plugin, 'cloudify.nodes.rest.Object', {
    properties: {
      hosts: ['127.0.0.1'],
      port: api.port,
      templates: TEMPLATES,
      expected: EXPECTED,
      ...properties,
    } as never,
    files: FILES,
    runtime: runtime as never,
  });
const GONE = 'what the plugin cloudify-utilities-plugin made for this node instance does not exist any more';

it('makes, reads, compares and deletes an object', async () => {
  const item = node();
  await item.run('create');
  expect(items.get('i1')).toEqual({ id: 'i1', ...EXPECTED });
  expect(item.runtimeProperties).toEqual({ id: 'i1' });
  await item.run('check_status');
  expect(await item.run('check_drift')).toBeNull();
  items.get('i1')!.size = 9;
  expect(await item.run('check_drift')).toEqual([
    { path: 'expected', stored: EXPECTED, present: { name: 'web', size: 9 } },
  ]);
  await item.run('delete');
  expect(items.size).toBe(0);
  expect(item.runtimeProperties).toEqual({});
});

it('heals what differs by an update with the changes alone', async () => {
  const item = node();
  await item.run('create');
  items.get('i1')!.size = 9;
  await item.run('heal');
  expect(items.get('i1')).toEqual({ id: 'i1', ...EXPECTED });
  expect(api.got.filter(({ method }) => method === 'PATCH').map(({ body }) => body)).toEqual(['{"size":2}']);
  await item.run('heal');
  expect(api.lines().filter((line) => line.startsWith('P'))).toHaveLength(2);
});

it('heals what is gone by making it again', async () => {
  const item = node();
  await item.run('create');
  items.clear();
  await expect(item.run('check_status')).rejects.toThrow(GONE);
  items.set('i9', {});
  await item.run('heal');
  expect(item.runtimeProperties).toEqual({ id: 'i2' });
  expect(items.get('i2')).toMatchObject(EXPECTED);
});

it('updates to new expected values; without a template for it, by deleting and making it again', async () => {
  const item = node();
  await item.run('create');
  item.properties.expected = { name: 'web', size: 3 };
  await item.run('update');
  expect(items.get('i1')).toEqual({ id: 'i1', name: 'web', size: 3 });
  const again = node({ templates: { ...TEMPLATES, update: '' } });
  await again.run('create');
  again.properties.expected = { name: 'other', size: 3 };
  await again.run('update');
  expect([...items.values()].map(({ name }) => name)).toEqual(['web', 'other']);
});

it('a delete of an object that is gone is no failure, another refusal is one', async () => {
  const item = node();
  await item.run('create');
  items.clear();
  await item.run('delete');
  const kept = node({ missing_codes: [] });
  await kept.run('create');
  items.clear();
  await expect(kept.run('delete')).rejects.toThrow('answered 404');
});

it('has the same key in each try of a call, so that the server makes one object', async () => {
  const keys = () => api.got.map(({ headers }) => headers['idempotency-key']);
  const item = node({ idempotency_header: 'Idempotency-Key' });
  const lost = { taskId: 'task', isResumed: false };
  const usual = api.answer;
  // The server makes the object, and the answer is lost with the worker.
  api.answer = (request) => {
    usual(request);
    return null;
  };
  await expect(item.run('create', {}, lost)).rejects.toThrow('POST http://127.0.0.1');
  api.answer = usual;
  await item.run('create', {}, { ...lost, isResumed: true });
  expect(keys()[0]).toBe(keys()[1]);
  expect([...items.keys()]).toEqual(['i1']);
});

describe('after the loss of a worker', () => {
  // One server for all attempts: each has its own object.
  const fresh = () => {
    api.got.length = 0;
    items.clear();
    return node();
  };
  it('create goes on behind the calls that it made', async () => {
    const effects = () => api.lines().filter((line) => line.startsWith('POST'));
    const crashes = await crashEverywhere(fresh, 'create', { effects });
    expect(crashes.map(({ after }) => after)).toEqual(['create, try 0.1, call 1']);
    expect(crashes[0]!.node.runtimeProperties).toEqual({ id: 'i1' });
  });
  it.each(['update', 'delete'])('%s has each effect once', async (operation) => {
    const changed = () => {
      fresh();
      items.set('i1', { id: 'i1', name: 'web', size: 9 });
      return node({}, { id: 'i1' });
    };
    const effects = () => api.lines().filter((line) => !line.startsWith('GET'));
    await crashEverywhere(changed, operation, { effects });
  });
});
