// What a server fills in. Only the defaults that clients or tests can see are here.
import { type Dict, dictOf, isDict, type KubeObject, listOf } from './object';

type Filler = (object: KubeObject, spec: Dict) => void;

const BY_KIND: Record<string, Filler> = {
  Deployment: (_, spec) => {
    fill(spec, {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    });
    podTemplate(spec);
  },
  ReplicaSet: (_, spec) => {
    fill(spec, { replicas: 1 });
    podTemplate(spec);
  },
  ReplicationController: (_, spec) => {
    fill(spec, { replicas: 1 });
    podTemplate(spec);
  },
  StatefulSet: (_, spec) => {
    fill(spec, {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    });
    podTemplate(spec);
  },
  DaemonSet: (_, spec) => {
    fill(spec, {
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
    podTemplate(spec);
  },
  Job: (object, spec) => {
    fill(spec, { backoffLimit: 6, completions: 1, parallelism: 1, suspend: false });
    const labels = { 'batch.kubernetes.io/job-name': object.metadata.name, 'job-name': object.metadata.name };
    fill(spec, { selector: { matchLabels: labels } });
    const template = member(spec, 'template');
    const metadata = member(template, 'metadata');
    metadata.labels = { ...labels, ...dictOf(metadata.labels) };
    podTemplate(spec);
  },
  Pod: (_, spec) => podSpec(spec),
  Service: (object, spec) => service(object, spec),
  Secret: (object) => secret(object),
  PersistentVolumeClaim: (_, spec) => fill(spec, { volumeMode: 'Filesystem', storageClassName: 'standard' }),
  PersistentVolume: (_, spec) =>
    fill(spec, { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' }),
  Namespace: (object, spec) => {
    fill(spec, { finalizers: ['kubernetes'] });
    object.metadata.labels = {
      ...object.metadata.labels,
      'kubernetes.io/metadata.name': object.metadata.name,
    };
  },
  StorageClass: (object) => fill(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  CustomResourceDefinition: (_, spec) => {
    const names = member(spec, 'names');
    const kind = String(names.kind);
    fill(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
    fill(spec, { conversion: { strategy: 'None' } });
  },
};

/** Kinds that have no spec. */
const WITHOUT_SPEC = new Set(['Secret', 'StorageClass', 'ConfigMap', 'ServiceAccount']);

/** Fills in the defaults of a server, in place. */
export function addDefaults(object: KubeObject): void {
  const filler = BY_KIND[object.kind];
  if (filler === undefined) return;
  const spec = WITHOUT_SPEC.has(object.kind) ? {} : (object.spec ??= {});
  filler(object, spec);
}

function fill(into: Dict, values: Dict): void {
  for (const [name, value] of Object.entries(values)) {
    if (into[name] === undefined || into[name] === null) into[name] = structuredClone(value);
    else if (isDict(value) && isDict(into[name]) && name !== 'selector') fill(into[name], value);
  }
}

function member(of: Dict, name: string): Dict {
  if (!isDict(of[name])) of[name] = {};
  return of[name] as Dict;
}

function podTemplate(spec: Dict): void {
  const template = dictOf(spec.template);
  if (isDict(template.spec)) podSpec(template.spec);
}

function podSpec(spec: Dict): void {
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
  });
  for (const container of [...listOf(spec.containers), ...listOf(spec.initContainers)]) {
    const image = String(container.image);
    const isFloating = !image.includes('@') && (!/:[^/]+$/.test(image) || image.endsWith(':latest'));
    fill(container, {
      imagePullPolicy: isFloating ? 'Always' : 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      resources: {},
    });
    for (const port of listOf(container.ports)) fill(port, { protocol: 'TCP' });
  }
}

function service(object: KubeObject, spec: Dict): void {
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' });
  for (const port of listOf(spec.ports)) fill(port, { protocol: 'TCP', targetPort: port.port });
  object.status ??= { loadBalancer: {} };
}

let addresses = 0;

/** Gives a service its address and ports of nodes. They belong to no writer, and an update that leaves them out keeps them. */
export function allocate(object: KubeObject, before: KubeObject | undefined): void {
  const spec = dictOf(object.spec);
  if (object.kind !== 'Service' || spec.type === 'ExternalName') return;
  const old = dictOf(before?.spec);
  if (spec.clusterIP === undefined || spec.clusterIP === '')
    spec.clusterIP = old.clusterIP ?? `10.96.${(addresses >> 8) & 255}.${++addresses & 255}`;
  fill(spec, { clusterIPs: [spec.clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
  if (spec.type === 'ClusterIP') return;
  for (const port of listOf(spec.ports)) {
    const same = listOf(old.ports).find((one) => one.port === port.port);
    fill(port, { nodePort: same?.nodePort ?? 30_000 + (++addresses % 2_700) });
  }
}

function secret(object: KubeObject): void {
  fill(object, { type: 'Opaque' });
  if (!isDict(object.stringData)) return;
  const encoded = Object.entries(object.stringData).map(([name, text]) => [
    name,
    Buffer.from(String(text)).toString('base64'),
  ]);
  object.data = { ...dictOf(object.data), ...(Object.fromEntries(encoded) as Dict) };
  delete object.stringData;
}
