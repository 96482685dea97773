// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs as their controllers keep them.
import { createHash, randomUUID } from 'node:crypto';
import { type Dict, dictOf, isSame, type KubeObject, listOf } from './object';
import { isReady, ownedBy, POD, podOf, suffix } from './pods';
import type { Store } from './store';

const apps = (resource: string) => ({ group: 'apps', resource });
const REPLICA_SETS = apps('replicasets');
const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/** The children of an object: what it controls. */
const childrenOf = (
  store: Store,
  type: { group: string; resource: string },
  owner: KubeObject,
): KubeObject[] =>
  store
    .list(type, owner.metadata.namespace)
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid));

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export function reconcileDeployment(store: Store, deployment: KubeObject): void {
  if (isGoing(deployment)) return;
  const spec = dictOf(deployment.spec);
  const template = dictOf(spec.template);
  const hash = createHash('sha256')
    .update(JSON.stringify(sorted(template)))
    .digest('hex')
    .slice(0, 10);
  const sets = childrenOf(store, REPLICA_SETS, deployment);
  let current = sets.find(({ metadata }) => metadata.labels?.[HASH] === hash);
  const revisions = sets.map(({ metadata }) => Number(metadata.annotations?.[REVISION] ?? 0));
  const newest = Math.max(0, ...revisions);
  const revision =
    current !== undefined && Number(current.metadata.annotations?.[REVISION]) === newest
      ? newest
      : newest + 1;
  current ??= newReplicaSet(deployment, template, hash, store.now());
  current.metadata.annotations = { ...current.metadata.annotations, [REVISION]: String(revision) };
  current.spec = { ...current.spec, replicas: spec.replicas };
  current = store.put(REPLICA_SETS, current);
  const isUp = Number(dictOf(current.status).readyReplicas ?? 0) >= Number(spec.replicas);
  // Old pods go when the new ones are there.
  for (const old of sets)
    if (old.metadata.uid !== current.metadata.uid && isUp && old.spec?.replicas !== 0)
      store.put(REPLICA_SETS, { ...old, spec: { ...old.spec, replicas: 0 } });
  const fresh = store.get(apps('deployments'), deployment.metadata.namespace, deployment.metadata.name)!;
  fresh.metadata.annotations = { ...fresh.metadata.annotations, [REVISION]: String(revision) };
  fresh.status = deploymentStatus(store, fresh, current);
  store.put(apps('deployments'), fresh);
}

function newReplicaSet(deployment: KubeObject, template: Dict, hash: string, now: string): KubeObject {
  const metadata = dictOf(template.metadata);
  const labels = { ...(metadata.labels as Record<string, string>), [HASH]: hash };
  const selector = dictOf(dictOf(deployment.spec).selector);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace,
      uid: randomUUID(),
      resourceVersion: '',
      creationTimestamp: now,
      generation: 1,
      labels,
      ownerReferences: [ownedBy(deployment)],
    },
    spec: {
      selector: { matchLabels: { ...dictOf(selector.matchLabels), [HASH]: hash } },
      template: { ...structuredClone(template), metadata: { ...metadata, labels } },
    },
    status: { replicas: 0 },
  };
}

function deploymentStatus(store: Store, deployment: KubeObject, current: KubeObject): Dict {
  const desired = Number(dictOf(deployment.spec).replicas);
  const sets = childrenOf(store, REPLICA_SETS, deployment);
  const count = (object: KubeObject, name: string): number => Number(dictOf(object.status)[name] ?? 0);
  const sum = (name: string): number => sets.reduce((total, set) => total + count(set, name), 0);
  const now = sets.find(({ metadata }) => metadata.uid === current.metadata.uid) ?? current;
  const available = sum('readyReplicas');
  const isDone = count(now, 'readyReplicas') >= desired && sum('replicas') === desired;
  const conditions = [
    condition(
      deployment,
      'Available',
      available >= desired,
      store,
      'MinimumReplicasAvailable',
      'MinimumReplicasUnavailable',
    ),
    condition(
      deployment,
      'Progressing',
      true,
      store,
      isDone ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
    ),
  ];
  return clean({
    observedGeneration: deployment.metadata.generation,
    replicas: sum('replicas'),
    updatedReplicas: count(now, 'replicas'),
    readyReplicas: available,
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
    conditions,
  });
}

/** Zero counts are left out, as a server writes them. */
const clean = (status: Dict): Dict =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));

export function condition(
  object: KubeObject,
  type: string,
  isTrue: boolean,
  store: Store,
  reason: string,
  otherReason = reason,
): Dict {
  const now = { type, status: isTrue ? 'True' : 'False', reason: isTrue ? reason : otherReason };
  const before = listOf(dictOf(object.status).conditions).find((one) => one.type === type);
  if (before !== undefined && before.status === now.status && before.reason === now.reason) return before;
  return { ...now, message: now.reason, lastUpdateTime: store.now(), lastTransitionTime: store.now() };
}

/** ReplicaSets, ReplicationControllers and StatefulSets: as many pods as wanted. */
export function reconcileReplicas(
  store: Store,
  type: { group: string; resource: string },
  set: KubeObject,
): void {
  if (isGoing(set)) return;
  const spec = dictOf(set.spec);
  const isStateful = set.kind === 'StatefulSet';
  const wanted = set.kind === 'DaemonSet' ? 1 : Number(spec.replicas ?? 1);
  const template = dictOf(spec.template);
  const pods = childrenOf(store, POD, set).filter((pod) => !isGoing(pod));
  // Pods of another template are replaced, except by ReplicaSets, which keep what they have.
  const isStale = (pod: KubeObject): boolean =>
    set.kind !== 'ReplicaSet' && !isSame(dictOf(pod.spec).containers, dictOf(template.spec).containers);
  for (const pod of pods.filter((one, i) => i >= wanted || isStale(one))) store.remove(POD, pod);
  const kept = childrenOf(store, POD, set).filter((pod) => !isGoing(pod));
  for (let i = 0; kept.length < wanted; i++) {
    const name = `${set.metadata.name}-${isStateful ? i : suffix()}`;
    if (kept.some(({ metadata }) => metadata.name === name)) continue;
    kept.push(store.put(POD, podOf(set, template, name, store.now())));
  }
  const ready = kept.filter(isReady).length;
  const fresh = store.get(type, set.metadata.namespace, set.metadata.name)!;
  fresh.status = set.kind === 'DaemonSet' ? daemonStatus(fresh, ready) : replicaStatus(fresh, wanted, ready);
  store.put(type, fresh);
}

function replicaStatus(set: KubeObject, replicas: number, ready: number): Dict {
  const revision = `${set.metadata.name}-${set.metadata.generation ?? 1}`;
  return clean({
    ...(set.kind === 'StatefulSet'
      ? {
          currentRevision: revision,
          updateRevision: revision,
          currentReplicas: replicas,
          updatedReplicas: replicas,
        }
      : { fullyLabeledReplicas: replicas }),
    observedGeneration: set.metadata.generation,
    replicas,
    readyReplicas: ready,
    availableReplicas: ready,
  });
}

const daemonStatus = (set: KubeObject, ready: number): Dict => ({
  observedGeneration: set.metadata.generation,
  currentNumberScheduled: 1,
  desiredNumberScheduled: 1,
  numberMisscheduled: 0,
  updatedNumberScheduled: 1,
  numberReady: ready,
  numberAvailable: ready,
  ...(ready === 0 ? { numberUnavailable: 1 } : {}),
});

export function reconcileJob(store: Store, job: KubeObject): void {
  if (isGoing(job)) return;
  const spec = dictOf(job.spec);
  const pods = childrenOf(store, POD, job);
  for (let i = pods.length; i < Number(spec.completions); i++)
    pods.push(
      store.put(POD, podOf(job, dictOf(spec.template), `${job.metadata.name}-${suffix()}`, store.now())),
    );
  const inPhase = (phase: string): number => pods.filter((pod) => pod.status?.phase === phase).length;
  const [succeeded, failed] = [inPhase('Succeeded'), inPhase('Failed')];
  const type = { group: 'batch', resource: 'jobs' };
  const fresh = store.get(type, job.metadata.namespace, job.metadata.name)!;
  const isComplete = succeeded >= Number(spec.completions);
  const ends = [
    ...(isComplete ? [condition(fresh, 'Complete', true, store, 'CompletionsReached')] : []),
    ...(failed > 0 ? [condition(fresh, 'Failed', true, store, 'BackoffLimitExceeded')] : []),
  ];
  fresh.status = clean({
    startTime: dictOf(fresh.status).startTime ?? store.now(),
    active: pods.length - succeeded - failed,
    succeeded,
    failed,
    ...(isComplete ? { completionTime: dictOf(fresh.status).completionTime ?? store.now() } : {}),
    ...(ends.length > 0 ? { conditions: ends } : {}),
  });
  store.put(type, fresh);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
