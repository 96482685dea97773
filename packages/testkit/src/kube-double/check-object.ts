import { badRequest, invalid } from './api-error';
import { dictOf, isSame, type KubeObject, listOf } from './object';
import { apiVersionOf, type ResourceType } from './resources';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** Names of these may hold colons and upper case. */
const FREE_NAMES = new Set(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);

/** Fields of a kind that no update may change. */
const IMMUTABLE: Record<string, readonly string[]> = {
  Deployment: ['selector'],
  ReplicaSet: ['selector'],
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'],
  DaemonSet: ['selector'],
  Job: ['selector', 'template', 'completionMode'],
  PersistentVolumeClaim: ['accessModes', 'storageClassName', 'volumeMode', 'volumeName'],
  Service: ['clusterIP'],
};

type Causes = [string, string][];

/** @throws ApiError 400 or 422 for an object that a server refuses */
export function checkObject(type: ResourceType, object: KubeObject, before: KubeObject | undefined): void {
  if (object.kind !== type.kind || object.apiVersion !== apiVersionOf(type))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): it is ${object.apiVersion} ${object.kind}`,
    );
  const causes: Causes = [];
  const name = object.metadata.name;
  if (typeof name !== 'string' || (!NAME.test(name) && !FREE_NAMES.has(type.resource)))
    causes.push([
      'metadata.name',
      `Invalid value: "${String(name)}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`,
    ]);
  for (const [key, value] of Object.entries(object.metadata.labels ?? {}))
    if (typeof value !== 'string' || value.length > 63)
      causes.push([`metadata.labels.${key}`, 'must be no more than 63 characters']);
  if (!type.isCustom) {
    workload(object, causes);
    if (before !== undefined) immutable(object, before, causes);
  }
  if (causes.length > 0) throw invalid(type, String(name), causes);
}

function workload(object: KubeObject, causes: Causes): void {
  const spec = dictOf(object.spec);
  const template = object.kind === 'Pod' ? object : dictOf(spec.template);
  const hasPods = ['Pod', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(
    object.kind,
  );
  if (!hasPods) return;
  const at = object.kind === 'Pod' ? 'spec' : 'spec.template.spec';
  const containers = listOf(dictOf(template.spec).containers);
  if (containers.length === 0) causes.push([`${at}.containers`, 'Required value']);
  containers.forEach((container, i) => {
    if (!container.name) causes.push([`${at}.containers[${i}].name`, 'Required value']);
    if (!container.image) causes.push([`${at}.containers[${i}].image`, 'Required value']);
  });
  if (object.kind === 'Pod' || object.kind === 'Job') return;
  const wanted = Object.entries(dictOf(dictOf(spec.selector).matchLabels));
  const labels = dictOf(dictOf(template.metadata).labels);
  if (wanted.length === 0) causes.push(['spec.selector', 'Required value']);
  if (wanted.some(([key, value]) => labels[key] !== value))
    causes.push([
      'spec.template.metadata.labels',
      'Invalid value: `selector` does not match template `labels`',
    ]);
}

function immutable(object: KubeObject, before: KubeObject, causes: Causes): void {
  for (const name of IMMUTABLE[object.kind] ?? []) {
    const [old, now] = [dictOf(before.spec)[name], dictOf(object.spec)[name]];
    if (old !== undefined && !isSame(old, now)) causes.push([`spec.${name}`, 'field is immutable']);
  }
  if ((object.kind === 'ConfigMap' || object.kind === 'Secret') && before.immutable === true)
    if (!isSame([before.data, before.stringData], [object.data, object.stringData]))
      causes.push(['data', 'field is immutable when `immutable` is set']);
}
