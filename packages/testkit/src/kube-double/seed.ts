import { randomUUID } from 'node:crypto';
import type { Dict } from './object';
import type { Store } from './store';

/** What every cluster has: namespaces, a node, a class of storage. */
export function seed(store: Store): void {
  const make = (group: string, resource: string, kind: string, name: string, more: Dict = {}): void => {
    store.put(
      { group, resource },
      {
        apiVersion: group === '' ? 'v1' : `${group}/v1`,
        kind,
        metadata: { name, uid: randomUUID(), resourceVersion: '', creationTimestamp: store.now() },
        ...more,
      },
    );
  };
  for (const name of ['default', 'kube-system', 'kube-public']) make('', 'namespaces', 'Namespace', name);
  make('', 'nodes', 'Node', 'node-1', {
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] },
  });
  make('storage.k8s.io', 'storageclasses', 'StorageClass', 'standard', { provisioner: 'double/none' });
}
