// Removal of objects: grace, finalizers, owners (spec: "Garbage Collection" of the Kubernetes documentation).
import { conflict, notFound } from './api-error';
import type { Dict, KubeObject } from './object';
import { dictOf } from './object';
import type { ResourceType } from './resources';
import type { Store } from './store';

const DEPENDENTS = 'foregroundDeletion';
const ORPHAN = 'orphan';
/** Given to objects that were deleted with a grace; the kubelet, or the settling of the cluster, ends it. */
const POD_GRACE_SECONDS = 30;

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  uid?: string;
  resourceVersion?: string;
  isDryRun: boolean;
}

export function deleteOptionsOf(body: Dict, query: URLSearchParams): DeleteOptions {
  const { preconditions, dryRun } = body;
  const grace = body.gracePeriodSeconds ?? query.get('gracePeriodSeconds') ?? undefined;
  return {
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    propagationPolicy: String(
      body.propagationPolicy ??
        query.get('propagationPolicy') ??
        (body.orphanDependents === true ? 'Orphan' : 'Background'),
    ),
    uid: dictOf(preconditions).uid as string | undefined,
    resourceVersion: dictOf(preconditions).resourceVersion as string | undefined,
    isDryRun: (Array.isArray(dryRun) && dryRun.length > 0) || query.has('dryRun'),
  };
}

/** Begins the removal of an object; returns its last state, and whether it is gone already. @throws ApiError 404, 409 */
export function deleteObject(
  store: Store,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): { object: KubeObject; isGone: boolean } {
  const object = store.get(type, namespace, name);
  if (object === undefined) throw notFound(type, name);
  if (options.uid !== undefined && options.uid !== object.metadata.uid)
    throw conflict(type, name, `Precondition failed: UID in precondition: ${options.uid}`);
  if (options.resourceVersion !== undefined && options.resourceVersion !== object.metadata.resourceVersion)
    throw conflict(type, name, 'Precondition failed: resourceVersion');
  if (options.isDryRun) return { object, isGone: true };
  const finalizers = new Set(object.metadata.finalizers ?? []);
  if (options.propagationPolicy === 'Foreground') finalizers.add(DEPENDENTS);
  if (options.propagationPolicy === 'Orphan') finalizers.add(ORPHAN);
  const grace = options.gracePeriodSeconds ?? (type.resource === 'pods' ? POD_GRACE_SECONDS : 0);
  const waits =
    finalizers.size > 0 || type.resource === 'namespaces' || (type.resource === 'pods' && grace > 0);
  if (!waits) {
    store.remove(type, object);
    return { object, isGone: true };
  }
  const { metadata } = object;
  metadata.deletionTimestamp ??= store.now();
  metadata.deletionGracePeriodSeconds = grace;
  if (finalizers.size > 0) metadata.finalizers = [...finalizers];
  if (type.resource === 'namespaces') object.status = { phase: 'Terminating' };
  return { object: store.put(type, object), isGone: false };
}

/** Ends removals whose conditions are met, and removes what has lost its owners. */
export function finishDeletions(store: Store): void {
  const all = store.everything();
  const uids = new Set(all.map(({ object }) => object.metadata.uid));
  for (const { type, object } of all) {
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) store.remove(type, object);
    if (object.metadata.deletionTimestamp === undefined) continue;
    const dependents = all.filter((one) =>
      one.object.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
    );
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(ORPHAN)) release(store, dependents, object.metadata.uid);
    if (finalizers.includes(DEPENDENTS)) for (const one of dependents) beginRemoval(store, one);
    const contents =
      type.resource === 'namespaces'
        ? all.filter((one) => one.object.metadata.namespace === object.metadata.name)
        : [];
    for (const one of contents) beginRemoval(store, one);
    const isHeld = finalizers.includes(DEPENDENTS) && dependents.length > 0;
    const others = finalizers.filter((one) => one !== DEPENDENTS && one !== ORPHAN);
    if (!isHeld && others.length === 0 && contents.length === 0) store.remove(type, object);
  }
}

function release(
  store: Store,
  dependents: readonly { type: ResourceType; object: KubeObject }[],
  uid: string,
): void {
  for (const { type, object } of dependents) {
    const ownerReferences = object.metadata.ownerReferences?.filter((one) => one.uid !== uid);
    store.put(type, { ...object, metadata: { ...object.metadata, ownerReferences } });
    object.metadata.ownerReferences = ownerReferences;
  }
}

function beginRemoval(store: Store, { type, object }: { type: ResourceType; object: KubeObject }): void {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const options = { propagationPolicy: 'Background', gracePeriodSeconds: 0, isDryRun: false };
  if (store.get(type, object.metadata.namespace, object.metadata.name) !== undefined)
    deleteObject(store, type, object.metadata.namespace, object.metadata.name, options);
}
