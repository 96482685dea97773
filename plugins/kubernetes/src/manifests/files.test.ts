import { stringify } from 'yaml';
import { configMap, deployment, testCluster } from '../testing/cluster';
import { readManifests } from './read-manifests';

const cluster = testCluster();
const CONFIG_MAPS = { group: '', resource: 'configmaps' };

const documents = (...objects: object[]): string => objects.map((one) => stringify(one)).join('---\n');

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const cronTab = {
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name: 'mine' },
  spec: { cron: '* * *' },
};

describe('a node with a file', () => {
  it('has the objects of all documents; those that leave the file are removed', async () => {
    const files = {
      'all.yaml': documents(configMap('one', { a: '1' }), configMap('two', { a: '{{ value }}' })),
    };
    const file = { resource_path: 'all.yaml', template_variables: { value: 'filled' } };
    const node = cluster.node('FileDefinedResource', { file, allow_node_redefinition: true }, files);
    await node.run('create');
    await node.run('poststart');
    expect(Object.keys(node.runtimeProperties.kubernetes as object)).toEqual(['all.yaml#0', 'all.yaml#1']);
    expect(cluster.double.store.get(CONFIG_MAPS, 'default', 'two')!.data).toEqual({ a: 'filled' });
    expect(await node.run('check_drift')).toBeNull();

    files['all.yaml'] = documents(configMap('one', { a: '2' }));
    expect(await node.run('check_drift')).toEqual([{ path: 'ConfigMap.data.a', stored: '2', present: '1' }]);
    await node.run('update');
    expect(cluster.double.store.get(CONFIG_MAPS, 'default', 'two')).toBeUndefined();
    await node.run('delete');
    expect(cluster.double.store.get(CONFIG_MAPS, 'default', 'one')).toBeUndefined();
  });

  it('must keep its objects where allow_node_redefinition is false', async () => {
    const files = { 'a.yaml': documents(configMap('kept', {}), configMap('leaves', {})) };
    const node = cluster.node('FileDefinedResource', { file: { resource_path: 'a.yaml' } }, files);
    await node.run('create');
    files['a.yaml'] = documents(configMap('kept', {}));
    await expect(node.run('update')).rejects.toThrow('no longer declares ConfigMap leaves in default');
    await node.run('delete');
    expect(cluster.double.store.list(CONFIG_MAPS, 'default')).toEqual([]);
  });

  it('may define a kind and use it', async () => {
    const files = { 'crd.yaml': documents(definition, cronTab) };
    const node = cluster.node('FileDefinedResource', { file: { resource_path: 'crd.yaml' } }, files);
    await node.run('create');
    await node.run('poststart');
    await node.run('check_status');
    expect(await node.run('check_drift')).toBeNull();
    await node.run('delete');
    await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
  });

  it('repairs one missing object by heal, and leaves the others alone', async () => {
    const files = {
      'a.yaml': documents(configMap('stays', { a: '1' })),
      'b.yaml': documents(configMap('gone', {})),
    };
    const node = cluster.node(
      'MultipleFileDefinedResources',
      { files: [{ resource_path: 'a.yaml' }, 'b.yaml'] },
      files,
    );
    await node.run('create');
    const { uid } = cluster.double.store.get(CONFIG_MAPS, 'default', 'stays')!.metadata;
    await cluster.double.send('DELETE', '/api/v1/namespaces/default/configmaps/gone');
    await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
    await node.run('heal');
    expect(cluster.double.store.get(CONFIG_MAPS, 'default', 'gone')).toBeDefined();
    expect(cluster.double.store.get(CONFIG_MAPS, 'default', 'stays')!.metadata.uid).toBe(uid);
    await node.run('delete');
  });
});

describe('a file of manifests', () => {
  it('is read as kubectl reads it: octal numbers, lists, dates as texts', () => {
    const [first, second] = readManifests(
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: x}\n  mode: 0644\n  on: 2001-12-14\n---\n---\n' +
        'apiVersion: v1\nkind: B\nmetadata: {name: second}\nport: 22:22\n',
      'x.yaml',
    );
    expect(first).toMatchObject({ kind: 'A', mode: 420, true: '2001-12-14' });
    expect(second).toMatchObject({ kind: 'B', port: '22:22' });
  });

  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x, x]',
    ...'bcdefghij'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefghi'[i]}, `.repeat(10)}]`),
  ].join('\n');
  const nested = `apiVersion: v1\nkind: A\nmetadata: {name: x}\nspec: ${'['.repeat(300)}${']'.repeat(300)}`;
  it.each([
    ['a bomb of anchors', bomb, 'its anchors and aliases cannot be resolved'],
    ['deep nesting', nested, 'nested deeper than 100 levels'],
    ['a broken document', 'a: [', 'is no YAML'],
    ['nothing', '# nothing', 'has no objects'],
    ['no kind', 'apiVersion: v1\nmetadata: {name: x}', 'kind is missing'],
    ['no name', 'apiVersion: v1\nkind: Pod\nmetadata: {}', 'metadata.name is missing in the Pod'],
    ['a long text', `a: ${'x'.repeat(5_000_000)}`, 'is longer than'],
  ])('is refused with %s', (_, text, message) => {
    expect(() => readManifests(text, 'x.yaml')).toThrow(message);
  });
});

it.each([
  [
    'a name that leaves its place',
    configMap('../../secrets/x', {}),
    'expected letters, digits, dots and hyphens',
  ],
  [
    'an apiVersion that leaves its place',
    { ...configMap('x', {}), apiVersion: '../v1' },
    'expected a form such as v1',
  ],
  [
    'a namespace that leaves its place',
    { ...configMap('x', {}), metadata: { name: 'x', namespace: '..' } },
    'the namespace of the ConfigMap',
  ],
  [
    'a wrong kind',
    { ...configMap('x', {}), kind: 'ConfigMep' },
    'no kind ConfigMep in v1; did you mean ConfigMap?',
  ],
  [
    'a group that may come later',
    { ...configMap('x', {}), apiVersion: 'a.example.com/v1' },
    'may not be established yet',
  ],
  ['what the cluster refuses', deployment('x', ''), 'spec.template.spec.containers[0].image: Required value'],
])('refuses %s', async (_, object, message) => {
  const node = cluster.node('BlueprintDefinedResource', { definition: object });
  await expect(node.run('create')).rejects.toThrow(message);
});
