import type { KubeObject } from '../client/kube-object';
import { readinessOf } from './readiness';

const object = (kind: string, spec: object, status: object, apiVersion = 'apps/v1'): KubeObject =>
  ({ apiVersion, kind, metadata: { name: 'x', generation: 2 }, spec, status }) as KubeObject;

const isTrue = (type: string, status = 'True', more: object = {}) => ({
  conditions: [{ type, status, ...more }],
});
const up = { updatedReplicas: 2, replicas: 2, availableReplicas: 2, readyReplicas: 2, observedGeneration: 2 };

const READY: [string, KubeObject][] = [
  ['a Deployment with all replicas', object('Deployment', { replicas: 2 }, up)],
  ['a Deployment that is to have none', object('Deployment', { replicas: 0 }, { observedGeneration: 2 })],
  [
    'a StatefulSet',
    object('StatefulSet', { replicas: 2 }, { ...up, currentRevision: 'a', updateRevision: 'a' }),
  ],
  [
    'a StatefulSet whose pods people replace',
    object(
      'StatefulSet',
      { replicas: 2, updateStrategy: { type: 'OnDelete' } },
      { ...up, currentRevision: 'a', updateRevision: 'b' },
    ),
  ],
  [
    'a DaemonSet',
    object('DaemonSet', {}, { desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 }),
  ],
  ['a ReplicaSet', object('ReplicaSet', { replicas: 2 }, up)],
  ['a pod that runs', object('Pod', {}, { phase: 'Running', ...isTrue('Ready') })],
  ['a pod that has ended', object('Pod', {}, { phase: 'Succeeded', ...isTrue('Ready', 'False') })],
  ['a job', object('Job', {}, isTrue('Complete'))],
  ['a Service inside', object('Service', { type: 'ClusterIP' }, { loadBalancer: {} }, 'v1')],
  [
    'a Service outside',
    object('Service', { type: 'LoadBalancer' }, { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }, 'v1'),
  ],
  [
    'a Service of Knative',
    object('Service', { type: 'LoadBalancer' }, isTrue('Ready'), 'serving.knative.dev/v1'),
  ],
  ['a claim', object('PersistentVolumeClaim', {}, { phase: 'Bound' })],
  ['a definition', object('CustomResourceDefinition', {}, isTrue('Established'))],
  ['a kind without a status', object('ConfigMap', {}, {})],
  ['a kind of its own that says so', object('Database', {}, isTrue('Ready'), 'example.com/v1')],
];
it.each(READY)('%s is ready', (_, one) => {
  expect(readinessOf(one)).toEqual({ state: 'ready' });
});

const WAITING: [string, KubeObject, string][] = [
  [
    'a Deployment that its controller has not seen',
    object('Deployment', { replicas: 2 }, { ...up, observedGeneration: 1 }),
    'has not seen',
  ],
  [
    'a Deployment with old pods',
    object('Deployment', { replicas: 2 }, { ...up, replicas: 3 }),
    '1 old replicas',
  ],
  [
    'a Deployment in the middle',
    object('Deployment', { replicas: 2 }, { ...up, updatedReplicas: 1 }),
    '1 of 2 replicas are up to date',
  ],
  [
    'a Deployment without its pods',
    object('Deployment', { replicas: 2 }, { ...up, availableReplicas: 1 }),
    '1 of 2 replicas are available',
  ],
  [
    'a StatefulSet in the middle',
    object('StatefulSet', { replicas: 2 }, { ...up, currentRevision: 'a', updateRevision: 'b' }),
    'new revision',
  ],
  [
    'a pod without readiness',
    object('Pod', {}, { phase: 'Running', ...isTrue('Ready', 'False') }),
    'not ready',
  ],
  ['a job', object('Job', {}, { active: 1 }), '1 pods are active'],
  [
    'a Service outside',
    object('Service', { type: 'LoadBalancer' }, { loadBalancer: {} }, 'v1'),
    'no address',
  ],
  ['an Ingress', object('Ingress', {}, {}, 'networking.k8s.io/v1'), 'no address'],
  ['a claim', object('PersistentVolumeClaim', {}, { phase: 'Pending' }), 'Pending'],
  ['a definition', object('CustomResourceDefinition', {}, {}), 'not established'],
  [
    'a kind of its own',
    object('Database', {}, isTrue('Ready', 'False', { message: 'starting' }), 'example.com/v1'),
    'starting',
  ],
];
it.each(WAITING)('%s is awaited', (_, one, why) => {
  expect(readinessOf(one)).toEqual({ state: 'waiting', why: expect.stringContaining(why) });
});

it.each([
  [
    'a Deployment whose time is over',
    object('Deployment', {}, isTrue('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' })),
  ],
  ['a pod', object('Pod', {}, { phase: 'Failed' })],
  ['a job', object('Job', {}, isTrue('Failed'))],
  ['a claim whose volume is lost', object('PersistentVolumeClaim', {}, { phase: 'Lost' })],
  [
    'a definition with names of others',
    object('CustomResourceDefinition', {}, isTrue('NamesAccepted', 'False')),
  ],
])('%s has failed', (_, one) => {
  expect(readinessOf(one).state).toBe('failed');
});

it('what is being removed is not ready', () => {
  const going = object('ConfigMap', {}, {});
  going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  expect(readinessOf(going).state).toBe('waiting');
});
