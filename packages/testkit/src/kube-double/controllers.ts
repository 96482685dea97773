import { randomUUID } from 'node:crypto';
import { finishDeletions } from './deletion';
import { type Dict, dictOf, isSame, type KubeObject } from './object';
import { type FateRule, isReady, POD, settledStatus } from './pods';
import type { Store } from './store';
import { condition, reconcileDeployment, reconcileJob, reconcileReplicas } from './workloads';

type Place = { group: string; resource: string };

/** One change may cause the next one; a cluster of tests settles within a few rounds. */
const MAX_ROUNDS = 50;

const core = (resource: string): Place => ({ group: '', resource });
const REPLICATED: Place[] = [
  { group: 'apps', resource: 'replicasets' },
  { group: 'apps', resource: 'statefulsets' },
  { group: 'apps', resource: 'daemonsets' },
  core('replicationcontrollers'),
];

/** Lets all controllers work until nothing changes any more. */
export function settle(store: Store, rules: readonly FateRule[]): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = store.version;
    for (const deployment of store.list({ group: 'apps', resource: 'deployments' }))
      reconcileDeployment(store, deployment);
    for (const type of REPLICATED) for (const set of store.list(type)) reconcileReplicas(store, type, set);
    for (const job of store.list({ group: 'batch', resource: 'jobs' })) reconcileJob(store, job);
    for (const pod of store.list(POD)) reconcilePod(store, pod, rules);
    for (const [type, work] of SIMPLE) for (const object of store.list(type)) work(store, object);
    finishDeletions(store);
    if (store.version === before) return;
  }
  throw new Error('kube-double: the controllers do not come to an end');
}

/** A pod that has a status keeps it, unless its images or their fate have changed. */
function reconcilePod(store: Store, pod: KubeObject, rules: readonly FateRule[]): void {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const status = settledStatus(pod, rules, String(dictOf(pod.status).startTime ?? store.now()));
  if (pod.status?.phase === status.phase && isReady(pod) === isReady({ ...pod, status })) {
    const image = (one: unknown): unknown =>
      (dictOf(one).containerStatuses as Dict[] | undefined)?.map((c) => [c.image, c.state]);
    if (isSame(image(pod.status), image(status))) return;
  }
  store.put(POD, { ...pod, status, spec: { nodeName: 'node-1', ...pod.spec } });
}

const SIMPLE: [Place, (store: Store, object: KubeObject) => void][] = [
  [
    core('services'),
    (store, object) => loadBalancer(store, core('services'), object, object.spec?.type === 'LoadBalancer'),
  ],
  [
    { group: 'networking.k8s.io', resource: 'ingresses' },
    (store, object) =>
      loadBalancer(store, { group: 'networking.k8s.io', resource: 'ingresses' }, object, true),
  ],
  [core('persistentvolumeclaims'), bindClaim],
  [
    core('persistentvolumes'),
    (store, volume) => setPhase(store, core('persistentvolumes'), volume, 'Available'),
  ],
  [core('namespaces'), namespace],
  [core('secrets'), serviceAccountToken],
  [{ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }, definition],
];

function loadBalancer(store: Store, type: Place, object: KubeObject, isWanted: boolean): void {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const status = { ...object.status, loadBalancer: isWanted ? { ingress: [{ ip: '203.0.113.10' }] } : {} };
  store.put(type, { ...object, status });
}

function setPhase(store: Store, type: Place, object: KubeObject, phase: string): void {
  if (object.status?.phase === undefined && object.metadata.deletionTimestamp === undefined)
    store.put(type, { ...object, status: { ...object.status, phase } });
}

function bindClaim(store: Store, claim: KubeObject): void {
  if (claim.status?.phase === 'Bound' || claim.metadata.deletionTimestamp !== undefined) return;
  const spec = dictOf(claim.spec);
  const volumeName = spec.volumeName ?? `pvc-${claim.metadata.uid}`;
  store.put(core('persistentvolumeclaims'), {
    ...claim,
    spec: { ...spec, volumeName },
    status: {
      phase: 'Bound',
      accessModes: spec.accessModes,
      capacity: dictOf(dictOf(spec.resources).requests),
    },
  });
}

function namespace(store: Store, object: KubeObject): void {
  const name = object.metadata.name;
  if (object.metadata.deletionTimestamp !== undefined) return;
  if (object.status?.phase !== 'Active')
    store.put(core('namespaces'), { ...object, status: { phase: 'Active' } });
  if (store.get(core('serviceaccounts'), name, 'default') !== undefined) return;
  const metadata = {
    namespace: name,
    uid: randomUUID(),
    resourceVersion: '',
    creationTimestamp: store.now(),
  };
  store.put(core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', ...metadata },
  });
}

const SERVICE_ACCOUNT = 'kubernetes.io/service-account.name';

/** The token of a service account, in a secret of that type. */
function serviceAccountToken(store: Store, secret: KubeObject): void {
  const data = dictOf(secret.data);
  if (secret.type !== 'kubernetes.io/service-account-token' || data.token !== undefined) return;
  const account = secret.metadata.annotations?.[SERVICE_ACCOUNT] ?? '';
  if (store.get(core('serviceaccounts'), secret.metadata.namespace, account) === undefined) return;
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  store.put(core('secrets'), {
    ...secret,
    data: {
      ...data,
      token: encode(tokenOf(secret.metadata.namespace!, account)),
      namespace: encode(secret.metadata.namespace!),
      'ca.crt': encode('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'),
    },
  });
}

/** The token of a service account; the server takes it as a credential. */
export const tokenOf = (namespace: string, account: string): string => `double.${namespace}.${account}.token`;

function definition(store: Store, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const spec = dictOf(object.spec);
  const versions = (spec.versions as Dict[] | undefined) ?? [];
  store.put(
    { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    {
      ...object,
      status: {
        acceptedNames: spec.names,
        storedVersions: versions.filter(({ storage }) => storage === true).map(({ name }) => name),
        conditions: [
          condition(object, 'NamesAccepted', true, store, 'NoConflicts'),
          condition(object, 'Established', true, store, 'InitialNamesAccepted'),
        ],
      },
    },
  );
}
