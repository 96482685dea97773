// When an object is ready, by the rules of its kind.
import { dictOf, type KubeObject, listOf } from '../client/kube-object';

export type Readiness = { state: 'ready' } | { state: 'waiting' | 'failed'; why: string };

const ready: Readiness = { state: 'ready' };
const waiting = (why: string): Readiness => ({ state: 'waiting', why });
const failed = (why: string): Readiness => ({ state: 'failed', why });

type Rule = (object: KubeObject, status: Record<string, unknown>, spec: Record<string, unknown>) => Readiness;

const count = (value: unknown): number => Number(value ?? 0);

function conditionOf(
  status: Record<string, unknown>,
  type: string,
): { isTrue: boolean; reason: string; message: string } | null {
  const found = listOf(status.conditions).find((one) => one.type === type);
  if (found === undefined) return null;
  return {
    isTrue: found.status === 'True',
    reason: String(found.reason ?? ''),
    message: String(found.message ?? ''),
  };
}

const RULES: Record<string, Rule> = {
  Deployment: (_, status, spec) => {
    const wanted = spec.replicas === undefined ? 1 : count(spec.replicas);
    const progressing = conditionOf(status, 'Progressing');
    if (progressing?.reason === 'ProgressDeadlineExceeded')
      return failed(progressing.message || progressing.reason);
    if (count(status.updatedReplicas) < wanted)
      return waiting(`${count(status.updatedReplicas)} of ${wanted} replicas are up to date`);
    if (count(status.replicas) > count(status.updatedReplicas))
      return waiting(
        `${count(status.replicas) - count(status.updatedReplicas)} old replicas are still there`,
      );
    return replicas(count(status.availableReplicas), wanted, 'available');
  },
  ReplicaSet: (_, status, spec) => replicas(count(status.readyReplicas), count(spec.replicas ?? 1), 'ready'),
  ReplicationController: (_, status, spec) =>
    replicas(count(status.readyReplicas), count(spec.replicas ?? 1), 'ready'),
  StatefulSet: (_, status, spec) => {
    const wanted = spec.replicas === undefined ? 1 : count(spec.replicas);
    const isRolling = dictOf(spec.updateStrategy).type !== 'OnDelete';
    const partition = count(dictOf(dictOf(spec.updateStrategy).rollingUpdate).partition);
    if (isRolling && partition === 0 && status.updateRevision !== status.currentRevision)
      return waiting('not all replicas have the new revision');
    return replicas(count(status.readyReplicas), wanted, 'ready');
  },
  DaemonSet: (_, status) => {
    const wanted = count(status.desiredNumberScheduled);
    if (count(status.updatedNumberScheduled) < wanted)
      return waiting(`${count(status.updatedNumberScheduled)} of ${wanted} pods are up to date`);
    return replicas(count(status.numberAvailable), wanted, 'available');
  },
  Pod: (pod, status) => podReadiness(pod, status),
  Job: (_, status) => {
    const failure = conditionOf(status, 'Failed');
    if (failure?.isTrue) return failed(failure.message || failure.reason);
    return conditionOf(status, 'Complete')?.isTrue
      ? ready
      : waiting(`${count(status.active)} pods are active`);
  },
  Service: (_, status, spec) =>
    spec.type === 'LoadBalancer' && listOf(dictOf(status.loadBalancer).ingress).length === 0
      ? waiting('the load balancer has no address')
      : ready,
  Ingress: (_, status) =>
    listOf(dictOf(status.loadBalancer).ingress).length === 0 ? waiting('the ingress has no address') : ready,
  PersistentVolumeClaim: (_, status) =>
    status.phase === 'Lost'
      ? failed('its volume is lost')
      : status.phase === 'Bound'
        ? ready
        : waiting(`the claim is ${String(status.phase ?? 'new')}`),
  PersistentVolume: (_, status) =>
    status.phase === 'Failed'
      ? failed(String(status.message ?? 'the volume has failed'))
      : status.phase === 'Available' || status.phase === 'Bound'
        ? ready
        : waiting(`the volume is ${String(status.phase ?? 'new')}`),
  Namespace: (_, status) =>
    status.phase === 'Active' ? ready : waiting(`the namespace is ${String(status.phase ?? 'new')}`),
  CustomResourceDefinition: (_, status) => {
    const names = conditionOf(status, 'NamesAccepted');
    if (names !== null && !names.isTrue) return failed(names.message || names.reason);
    return conditionOf(status, 'Established')?.isTrue ? ready : waiting('the definition is not established');
  },
  APIService: (_, status) =>
    conditionOf(status, 'Available')?.isTrue ? ready : waiting('the API is not available'),
  Node: (_, status) => (conditionOf(status, 'Ready')?.isTrue ? ready : waiting('the node is not ready')),
};

const replicas = (there: number, wanted: number, word: string): Readiness =>
  there >= wanted ? ready : waiting(`${there} of ${wanted} replicas are ${word}`);

/** Whether an object is ready. Kinds without a rule are, unless they say that they are not by a condition Ready. */
export function readinessOf(object: KubeObject): Readiness {
  const { metadata, spec, status } = object;
  if (metadata.deletionTimestamp !== undefined) return waiting('it is being removed');
  const observed = dictOf(status).observedGeneration;
  if (typeof observed === 'number' && metadata.generation !== undefined && observed < metadata.generation)
    return waiting('its controller has not seen the change');
  const rule = RULES[object.kind];
  if (rule !== undefined && (rule !== RULES.Service || object.apiVersion === 'v1'))
    return rule(object, dictOf(status), dictOf(spec));
  const condition = conditionOf(dictOf(status), 'Ready');
  return condition === null || condition.isTrue
    ? ready
    : waiting(condition.message || condition.reason || 'it is not ready');
}

function podReadiness(pod: KubeObject, status: Record<string, unknown>): Readiness {
  if (status.phase === 'Succeeded') return ready;
  if (status.phase === 'Failed')
    return failed(String(status.message ?? status.reason ?? 'a container has failed'));
  const trouble = podTrouble(pod);
  if (trouble !== null) return waiting(trouble);
  if (status.phase !== 'Running') return waiting(`the pod is ${String(status.phase ?? 'new')}`);
  return conditionOf(status, 'Ready')?.isTrue === false ? waiting('its containers are not ready') : ready;
}

/** What keeps a container of a pod from running, in the words of the cluster; null: nothing does. */
export function podTrouble({ status }: KubeObject): string | null {
  for (const container of [...listOf(status?.initContainerStatuses), ...listOf(status?.containerStatuses)]) {
    const { reason, message } = dictOf(dictOf(container.state).waiting);
    if (typeof reason === 'string' && !['ContainerCreating', 'PodInitializing'].includes(reason))
      return `${String(container.name)}: ${reason}${message ? `: ${String(message)}` : ''}`;
  }
  return null;
}
