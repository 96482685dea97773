// The token of a shared cluster is a secret of the tenant: the runtime property is a reference to it.
import { testCluster } from '../testing/cluster';

const cluster = testCluster();

it('makes a service account, keeps its token as a secret, and removes both', async () => {
  const node = cluster.node('SharedCluster', { options: { namespace: 'kube-system' } });
  await node.run('start');
  const { service_account: name } = node.runtimeProperties as { service_account: string };
  expect(
    cluster.double.store.get({ group: '', resource: 'serviceaccounts' }, 'kube-system', name),
  ).toBeDefined();
  expect(node.runtimeProperties).toMatchObject({
    'k8s-ip': cluster.double.url,
    'k8s-cacert': cluster.double.tls.ca,
    'k8s-service-account-token': { get_secret: expect.any(String) },
  });
  const bindings = { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' };
  expect(cluster.double.store.get(bindings, 'kube-system', name)).toMatchObject({
    roleRef: { name: 'admin' },
  });
  await node.run('poststart');
  await node.run('check_status');
  expect(JSON.stringify([node.runtimeProperties, node.log])).not.toContain(`double.kube-system.${name}`);
  await node.run('stop');
  for (const type of [bindings, { group: '', resource: 'secrets' }])
    expect(cluster.double.store.list(type, 'kube-system')).toEqual([]);
  await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
});

it('a workflow changes parts of a definition, and later checks know them', async () => {
  const definition = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'changed' },
    data: { a: '1', b: '2' },
  };
  const node = cluster.node('BlueprintDefinedResource', { definition });
  await node.run('create');
  await node.run('update', { resource_definition_changes: { data: { b: '3' } } });
  const found = cluster.double.store.get({ group: '', resource: 'configmaps' }, 'default', 'changed');
  expect(found!.data).toEqual({ a: '1', b: '3' });
  expect(await node.run('check_drift')).toBeNull();
});
