// Objects as rows, as `kubectl get` asks for them.
import { systemClock } from '@baton/kernel';
import { type Dict, dictOf, type KubeObject, listOf } from './object';

type Columns = [name: string, cell: (object: KubeObject) => unknown][];

const spec = (object: KubeObject): Dict => dictOf(object.spec);
const status = (object: KubeObject): Dict => dictOf(object.status);
const count = (value: unknown): number => Number(value ?? 0);

const BY_KIND: Record<string, Columns> = {
  Pod: [
    ['Ready', (pod) => readyContainers(pod)],
    ['Status', (pod) => podState(pod)],
    [
      'Restarts',
      (pod) => listOf(status(pod).containerStatuses).reduce((sum, one) => sum + count(one.restartCount), 0),
    ],
  ],
  Deployment: [
    ['Ready', (object) => `${count(status(object).readyReplicas)}/${count(spec(object).replicas)}`],
    ['Up-to-date', (object) => count(status(object).updatedReplicas)],
    ['Available', (object) => count(status(object).availableReplicas)],
  ],
  ReplicaSet: [
    ['Desired', (object) => count(spec(object).replicas)],
    ['Current', (object) => count(status(object).replicas)],
    ['Ready', (object) => count(status(object).readyReplicas)],
  ],
  StatefulSet: [
    ['Ready', (object) => `${count(status(object).readyReplicas)}/${count(spec(object).replicas)}`],
  ],
  Service: [
    ['Type', (object) => spec(object).type],
    ['Cluster-IP', (object) => spec(object).clusterIP ?? '<none>'],
    [
      'Port(s)',
      (object) =>
        listOf(spec(object).ports)
          .map(({ port, protocol }) => `${port}/${protocol}`)
          .join(','),
    ],
  ],
  PersistentVolumeClaim: [['Status', (object) => status(object).phase ?? 'Pending']],
  Namespace: [['Status', (object) => status(object).phase ?? 'Active']],
  Secret: [
    ['Type', (object) => object.type],
    ['Data', (object) => Object.keys(dictOf(object.data)).length],
  ],
  ConfigMap: [['Data', (object) => Object.keys(dictOf(object.data)).length]],
};

function readyContainers(pod: KubeObject): string {
  const containers = listOf(status(pod).containerStatuses);
  return `${containers.filter(({ ready }) => ready === true).length}/${listOf(spec(pod).containers).length}`;
}

function podState(pod: KubeObject): unknown {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const [first] = listOf(status(pod).containerStatuses);
  return dictOf(dictOf(first?.state).waiting).reason ?? status(pod).phase ?? 'Pending';
}

export function tableOf(
  kind: string,
  objects: readonly KubeObject[],
  resourceVersion: string,
  isFull: boolean,
): Dict {
  const columns: Columns = [
    ['Name', ({ metadata }) => metadata.name],
    ...(BY_KIND[kind] ?? []),
    ['Age', ({ metadata }) => age(metadata.creationTimestamp)],
  ];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion },
    columnDefinitions: columns.map(([name], i) => ({
      name,
      type: 'string',
      format: i === 0 ? 'name' : '',
      description: name,
      priority: 0,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(([, cell]) => cell(object)),
      object: isFull
        ? object
        : { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

function age(created: string): string {
  const seconds = Math.max(0, Math.round((systemClock.now() - Date.parse(created)) / 1000));
  return seconds < 120 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`;
}
