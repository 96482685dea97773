import { crashEverywhere, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type SecretStore, startSecretStore } from '../testing/secret-store';

let store: SecretStore;
beforeEach(async () => {
  store = await startSecretStore();
});
afterEach(async () => await store.close());

const writer = (properties: object) =>
  testNode(plugin, 'cloudify.nodes.secrets.Writer', { properties: properties as never });
const reader = (properties: object) =>
  testNode(plugin, 'cloudify.nodes.secrets.Reader', { properties: properties as never });
const stored = () => Object.fromEntries(store.secrets);

describe('Writer', () => {
  it('makes secrets, with variant and separator in their names, and removes them', async () => {
    const node = writer({
      entries: { user: 'ann-secret', list: [1, { a: true }], n: 42, ok: true },
      variant: 'prod',
      separator: '.',
    });
    await node.run('create');
    expect(stored()).toEqual({
      'user.prod': 'ann-secret',
      'list.prod': '[1,{"a":true}]',
      'n.prod': '42',
      'ok.prod': 'True',
    });
    expect(Object.keys(node.runtimeProperties.data as object)).toEqual(['user', 'list', 'n', 'ok']);
    expect(JSON.stringify([node.runtimeProperties, node.log])).not.toContain('ann-secret');
    await node.run('delete');
    expect([stored(), node.runtimeProperties]).toEqual([{}, {}]);
  });

  it('replaces no secret unless it is told to, and logs no value', async () => {
    store.secrets.set('user', 'of somebody');
    const node = writer({ entries: { other: 'first-value', user: 'second-value' }, logs_secrets: true });
    await expect(node.run('create')).rejects.toThrow('the secret user exists already: it is not replaced');
    expect(stored()).toEqual({ user: 'of somebody', other: 'first-value' });
    await node.run('delete');
    expect(stored()).toEqual({ user: 'of somebody' });
    const update = writer({ entries: { user: 'second-value' }, update_if_exists: true, logs_secrets: true });
    await update.run('create');
    expect(stored()).toEqual({ user: 'second-value' });
    expect(JSON.stringify([node.log, update.log])).not.toMatch(/second-value|of somebody|first-value/);
  });

  it('updates values, and leaves the secrets when it is told to', async () => {
    const node = writer({ entries: { a: 'value-1' }, do_not_delete: true });
    await node.run('create');
    await node.run('update', { entries: { a: 'value-2', b: 'value-3' } });
    expect(stored()).toEqual({ a: 'value-2', b: 'value-3' });
    await node.run('delete');
    expect(stored()).toEqual({ a: 'value-2', b: 'value-3' });
  });

  it('makes each secret once when its worker dies, also one whose answer was lost', async () => {
    const fresh = () => {
      store.secrets.clear();
      store.requests.length = 0;
      return writer({ entries: { a: 'value-1', b: 'value-2' } });
    };
    await crashEverywhere(fresh, 'create', {
      effects: () => store.requests.filter((line) => line.startsWith('PUT')),
    });
    const node = fresh();
    store.secrets.set('a', 'value-1');
    await node.run('create', {}, { isResumed: true });
    expect(stored()).toEqual({ a: 'value-1', b: 'value-2' });
  });

  it('refuses entries that are no dictionary', async () => {
    await expect(writer({ entries: ['x'] }).run('create')).rejects.toThrow('entries: expected a dictionary');
    await expect(writer({}).run('create', { variant: 7 })).rejects.toThrow('inputs.variant');
  });
});

describe('Reader', () => {
  it('reads values, of JSON or as texts', async () => {
    store.secrets.set('json__dev', '{"a": 1}').set('text__dev', 'plain-value');
    const node = reader({ keys: ['json', 'text'], variant: 'dev' });
    await node.run('create');
    expect(node.runtimeProperties.data).toMatchObject({
      json: { key: 'json__dev', value: { a: 1 } },
      text: { value: 'plain-value' },
    });
    store.secrets.set('text__dev', 'changed');
    await node.run('update');
    expect(node.runtimeProperties.data).toMatchObject({ text: { value: 'changed' } });
  });

  it('keeps functions in place of values when it is told to', async () => {
    store.secrets.set('text', 'plain-value');
    const node = reader({ keys: ['text'], by_reference: true });
    await node.run('create');
    expect(node.runtimeProperties.data).toEqual({ text: { key: 'text', value: { get_secret: 'text' } } });
    await expect(reader({ keys: ['none'] }).run('create')).rejects.toThrow('there is no secret none');
  });
});
