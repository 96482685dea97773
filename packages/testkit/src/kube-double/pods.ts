// Pods as a kubelet would run them.
import { randomBytes, randomUUID } from 'node:crypto';
import { type Dict, dictOf, type KubeObject, listOf } from './object';

/** What becomes of pods with an image: `crash` (CrashLoopBackOff), `no-image` (ImagePullBackOff), `fail` (phase Failed). */
export type PodFate = 'run' | 'crash' | 'no-image' | 'fail';

export interface FateRule {
  image: RegExp;
  fate: PodFate;
}

export const POD = { group: '', resource: 'pods' } as const;

const fateOf = (pod: KubeObject, rules: readonly FateRule[]): PodFate => {
  const images = listOf(pod.spec?.containers).map(({ image }) => String(image));
  return rules.find(({ image }) => images.some((one) => image.test(one)))?.fate ?? 'run';
};

/** A new pod from the template of its owner. */
export function podOf(owner: KubeObject, template: Dict, name: string, now: string): KubeObject {
  const metadata = dictOf(template.metadata);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      uid: randomUUID(),
      resourceVersion: '',
      creationTimestamp: now,
      labels: { ...(metadata.labels as Record<string, string>) },
      ...(metadata.annotations === undefined
        ? {}
        : { annotations: { ...(metadata.annotations as Record<string, string>) } }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: structuredClone(dictOf(template.spec)),
    status: { phase: 'Pending' },
  };
}

export const ownedBy = (owner: KubeObject) => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const suffix = (): string => randomBytes(3).toString('hex').slice(0, 5);

export const isReady = (pod: KubeObject): boolean =>
  listOf(pod.status?.conditions).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Pods of jobs, of hooks and of tests of charts. */
const endsItself = ({ spec }: KubeObject): boolean =>
  spec?.restartPolicy === 'Never' || spec?.restartPolicy === 'OnFailure';

/** The status that the pod comes to. A pod that is not restarted ends; the others run on. */
export function settledStatus(pod: KubeObject, rules: readonly FateRule[], now: string): Dict {
  const fate = fateOf(pod, rules);
  const isJob = endsItself(pod);
  const phase = PHASES[fate] ?? (isJob ? 'Succeeded' : 'Running');
  const isUp = phase === 'Running' && fate === 'run';
  const condition = (type: string, isTrue: boolean): Dict => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: now,
    ...(isTrue ? {} : { reason: phase === 'Succeeded' ? 'PodCompleted' : 'ContainersNotReady' }),
  });
  return {
    phase,
    conditions: [
      condition('Initialized', true),
      condition('Ready', isUp),
      condition('ContainersReady', isUp),
      condition('PodScheduled', true),
    ],
    hostIP: '10.0.0.1',
    podIP: '10.244.0.7',
    podIPs: [{ ip: '10.244.0.7' }],
    startTime: now,
    qosClass: 'BestEffort',
    containerStatuses: listOf(pod.spec?.containers).map((container) => ({
      name: container.name,
      image: container.image,
      imageID: fate === 'no-image' ? '' : `${String(container.image)}@sha256:${'0'.repeat(64)}`,
      containerID: 'containerd://0',
      ready: isUp,
      started: isUp,
      restartCount: fate === 'crash' ? 3 : 0,
      lastState: {},
      state: stateOf(fate, isJob, String(container.image), now),
    })),
  };
}

const PHASES: Partial<Record<PodFate, string>> = { 'no-image': 'Pending', crash: 'Running', fail: 'Failed' };

function stateOf(fate: PodFate, isJob: boolean, image: string, now: string): Dict {
  if (fate === 'no-image')
    return { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } };
  if (fate === 'crash')
    return { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } };
  const ended = { startedAt: now, finishedAt: now };
  if (fate === 'fail') return { terminated: { exitCode: 1, reason: 'Error', ...ended } };
  if (isJob) return { terminated: { exitCode: 0, reason: 'Completed', ...ended } };
  return { running: { startedAt: now } };
}
