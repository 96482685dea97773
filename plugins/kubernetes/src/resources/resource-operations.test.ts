import { fakeClock } from '@baton/plugin-sdk/testing';
import { configMap, deployment, testCluster } from '../testing/cluster';

const cluster = testCluster();
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' };
const CUSTOM = 'BlueprintDefinedResource';

const stored = (name: string, type = CONFIG_MAPS) => cluster.double.store.get(type, 'default', name);

/** Somebody else changes the object. */
async function change(name: string, patch: object, type = CONFIG_MAPS, by = 'kubectl-edit'): Promise<void> {
  const { double } = cluster;
  const path = type.group === '' ? '/api/v1' : `/apis/${type.group}/v1`;
  const url = `${path}/namespaces/default/${type.resource}/${name}?fieldManager=${by}`;
  await double.send('PATCH', url, patch, 'application/merge-patch+json');
}

describe('a node with a definition', () => {
  it('is applied under the name of the instance, awaited, and removed with what it has made', async () => {
    const node = cluster.node(CUSTOM, {
      definition: deployment('life', 'nginx:1.25', 2),
      validate_resource_status: true,
    });
    await node.run('create');
    const { managedFields } = stored('life', DEPLOYMENTS)!.metadata;
    expect(managedFields).toContainEqual(
      expect.objectContaining({ manager: 'baton:node_abc123', operation: 'Apply' }),
    );
    await node.run('poststart');
    expect(node.runtimeProperties.kubernetes).toMatchObject({
      kind: 'Deployment',
      metadata: { name: 'life', namespace: 'default' },
      status: { readyReplicas: 2 },
    });
    await node.run('check_status');
    expect(await node.run('check_drift')).toBeNull();

    await node.run('delete');
    expect(node.runtimeProperties).toEqual({});
    expect(stored('life', DEPLOYMENTS)).toBeUndefined();
    expect(cluster.double.store.list({ group: '', resource: 'pods' })).toEqual([]);
    await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
  });

  it('shows what others have changed as drift, and heal takes it back', async () => {
    const node = cluster.node(CUSTOM, { definition: deployment('drift', 'nginx:1.25') });
    await node.run('create');
    await change('drift', { spec: { replicas: 4 }, metadata: { labels: { team: 'x' } } }, DEPLOYMENTS);
    await node.run('check_status');
    expect(await node.run('check_drift')).toEqual([
      { path: 'Deployment.spec.replicas', stored: 1, present: 4 },
    ]);
    await node.run('heal');
    expect(stored('drift', DEPLOYMENTS)!.spec).toMatchObject({ replicas: 1 });
    // Fields that the blueprint does not name belong to others.
    expect(stored('drift', DEPLOYMENTS)!.metadata.labels).toEqual({ team: 'x' });
    expect(await node.run('check_drift')).toBeNull();
  });

  it('is made again by heal when it is gone', async () => {
    const node = cluster.node(CUSTOM, { definition: configMap('again', { a: '1' }) });
    await node.run('create');
    await cluster.double.send('DELETE', '/api/v1/namespaces/default/configmaps/again');
    await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
    await node.run('heal');
    expect(stored('again')!.data).toEqual({ a: '1' });
    await node.run('delete');
    expect(stored('again')).toBeUndefined();
  });

  it('is changed in place by an update; fields that it no longer names go', async () => {
    const node = cluster.node(CUSTOM, { definition: configMap('update', { a: '1', b: '2' }) });
    await node.run('create');
    const { uid } = stored('update')!.metadata;
    node.properties.definition = configMap('update', { a: '3' });
    await node.run('update');
    expect(stored('update')).toMatchObject({ data: { a: '3' }, metadata: { uid } });
    expect(stored('update')!.data).toEqual({ a: '3' });
  });

  it('may be made again by a worker that takes over', async () => {
    const node = cluster.node(CUSTOM, { definition: configMap('lost', { a: '1' }), use_if_exists: false });
    await node.run('create');
    const { resourceVersion } = stored('lost')!.metadata;
    expect(node.isResumable('create')).toBe(true);
    await node.run('create', {}, { isResumed: true });
    expect(stored('lost')!.metadata.resourceVersion).toBe(resourceVersion);
  });
});

it('is removed with the propagation and the grace of its options', async () => {
  const REPLICA_SETS = { group: 'apps', resource: 'replicasets' };
  const orphan = { propagation_policy: 'Orphan' };
  const node = cluster.node(CUSTOM, { definition: deployment('parent', 'nginx:1.25'), options: orphan });
  await node.run('create');
  await node.run('delete');
  expect(stored('parent', DEPLOYMENTS)).toBeUndefined();
  const left = cluster.double.store
    .list(REPLICA_SETS)
    .filter(({ metadata }) => metadata.name.startsWith('parent-'));
  expect(left).toHaveLength(1);

  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'grace' },
    spec: { containers: [{ name: 'x', image: 'x:1' }] },
  };
  const short = cluster.node(CUSTOM, { definition: pod, options: { grace_period_seconds: 7 } });
  await short.run('create');
  await short.run('delete');
  expect(stored('grace', { group: '', resource: 'pods' })).toBeUndefined();
});

describe('an object that exists', () => {
  const make = async (name: string): Promise<void> =>
    void (await cluster.double.send(
      'POST',
      '/api/v1/namespaces/default/configmaps?fieldManager=other',
      configMap(name, { a: '1' }),
    ));

  it('is used as it is, and removed on uninstall', async () => {
    await make('used');
    const node = cluster.node(CUSTOM, { definition: configMap('used', { a: '2' }) });
    await node.run('create');
    expect(stored('used')!.data).toEqual({ a: '1' });
    await node.run('delete');
    expect(stored('used')).toBeUndefined();
  });

  it('is refused with use_if_exists: false', async () => {
    await make('refused');
    const node = cluster.node(CUSTOM, { definition: configMap('refused', {}), use_if_exists: false });
    await expect(node.run('create')).rejects.toThrow('ConfigMap refused in default exists already');
    await node.run('delete');
    expect(stored('refused')).toBeDefined();
  });

  it('is neither changed nor removed when it is external', async () => {
    await make('external');
    const node = cluster.node(CUSTOM, {
      definition: configMap('external', { a: '2' }),
      use_external_resource: true,
    });
    await node.run('create');
    await node.run('update');
    expect(await node.run('check_drift')).toBeNull();
    await node.run('delete');
    expect(stored('external')!.data).toEqual({ a: '1' });
    const missing = cluster.node(CUSTOM, {
      definition: configMap('nowhere', {}),
      use_external_resource: true,
    });
    await expect(missing.run('create')).rejects.toThrow('should exist (use_external_resource), and does not');
  });

  it('is made where it is external and missing with create_if_missing, and then stays', async () => {
    const properties = { use_external_resource: true, create_if_missing: true };
    const node = cluster.node(CUSTOM, { definition: configMap('stand-in', { a: '1' }), ...properties });
    await node.run('create');
    await node.run('delete');
    expect(stored('stand-in')!.data).toEqual({ a: '1' });
  });

  it('is not removed when somebody has made it anew', async () => {
    const node = cluster.node(CUSTOM, { definition: configMap('anew', { a: '1' }) });
    await node.run('create');
    await cluster.double.send('DELETE', '/api/v1/namespaces/default/configmaps/anew');
    await make('anew');
    await node.run('delete');
    expect(stored('anew')).toBeDefined();
  });

  it('has fields of others: a conflict names both', async () => {
    const node = cluster.node(CUSTOM, { definition: configMap('conflict', { a: '1' }) });
    await node.run('create');
    await change('conflict', { data: { a: '2' } });
    await expect(node.run('create')).rejects.toThrow('.data.a (conflict with "kubectl-edit")');
    await node.run('update');
    expect(stored('conflict')!.data).toEqual({ a: '1' });
  });
});

describe('the wait', () => {
  it('ends with the wait_timeout, and says what holds the pods up', async () => {
    const node = cluster.node(CUSTOM, {
      definition: deployment('slow', 'none:1'),
      validate_resource_status: true,
    });
    cluster.double.fate(/^none:/, 'no-image');
    await node.run('create');
    await expect(node.run('poststart', { wait_timeout: 0 })).rejects.toThrow(
      'not ready within 0 s: Deployment slow in default: 0 of 1 replicas are available (web: ImagePullBackOff',
    );
  });

  it('goes on in later runs, until the objects are ready or the time is over', async () => {
    const clock = fakeClock();
    const node = cluster.node(
      CUSTOM,
      {
        definition: deployment('late', 'late:1'),
        validate_resource_status: true,
      },
      {},
      clock,
    );
    cluster.double.fate(/^late:/, 'crash');
    await node.run('create');
    clock.at(clock.now() + 60_000, () => cluster.double.fate(/^late:/, 'run'));
    const { deferrals, tookMs } = await node.runToEnd('poststart');
    expect(deferrals).toBeGreaterThan(2);
    expect(tookMs).toBeGreaterThanOrEqual(60_000);

    cluster.double.fate(/^never:/, 'crash');
    node.properties.definition = deployment('late', 'never:1');
    await node.run('update');
    await expect(node.runToEnd('poststart', { wait_timeout: 120 })).rejects.toThrow(
      /not ready within 120 s: .*CrashLoopBackOff/,
    );
  });

  it('for a removal goes on in later runs', async () => {
    const clock = fakeClock();
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'slow' },
      spec: { containers: [{ name: 'x', image: 'x:1' }] },
    };
    const node = cluster.node(CUSTOM, { definition: pod }, {}, clock);
    await node.run('create');
    cluster.double.hold();
    clock.at(clock.now() + 40_000, () => cluster.double.release());
    const { tookMs } = await node.runToEnd('delete');
    expect(tookMs).toBeGreaterThanOrEqual(40_000);
    expect(stored('slow', { group: '', resource: 'pods' })).toBeUndefined();
  });

  it('fails at once for what has failed', async () => {
    cluster.double.fate(/^broken:/, 'fail');
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'broken' },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'broken:1' }] } },
      },
    };
    const node = cluster.node(CUSTOM, { definition: job, validate_resource_status: true });
    await node.run('create');
    await expect(node.run('poststart')).rejects.toThrow(
      'Job broken in default has failed: BackoffLimitExceeded',
    );
  });
});

it('keeps values of secrets out of runtime properties and drift', async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key' },
    stringData: { password: 'open sesame' },
  };
  const node = cluster.node(CUSTOM, { definition: secret });
  await node.run('create');
  await change('key', { stringData: { password: 'changed by others' } }, { group: '', resource: 'secrets' });
  const drift = JSON.stringify(await node.run('check_drift'));
  expect(drift).toContain('Secret.data.password');
  const all = JSON.stringify([node.runtimeProperties, node.log]) + drift;
  for (const text of ['open sesame', 'changed by others'])
    for (const form of [text, Buffer.from(text).toString('base64')]) expect(all).not.toContain(form);
});
