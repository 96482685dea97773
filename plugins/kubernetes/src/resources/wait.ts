import { FatalError, OperationDeferred } from '@baton/plugin-sdk';
import type { KubeApi } from '../client/kube-api';
import { dictOf, type KubeObject, shownReference } from '../client/kube-object';
import { podTrouble, readinessOf } from './readiness';
import type { ResourceScope } from './scope';

/** Waits inside of the operation; then the operation gives its place at the worker back. */
const SHORT_WAIT_MS = 10_000;
const POLL_MS = { first: 250, most: 2_000 };
const CHECK_AFTER_S = 5;
/** For a whole node, over all runs of the operation. The input wait_timeout (seconds) replaces it. */
const DEFAULT_TIMEOUT_S = 900;

/**
 * Waits until all objects are ready by the rules of their kinds.
 * @throws OperationDeferred when it takes longer than a few seconds
 * @throws FatalError when an object has failed, or the time of the input wait_timeout is over
 */
export async function waitUntilReady(
  scope: ResourceScope,
  api: KubeApi,
  references: readonly KubeObject[],
): Promise<KubeObject[]> {
  const { runtime, signal, clock } = scope;
  const began = clock.now();
  runtime.__kubernetes_wait_since ??= began;
  for (let pauseMs = POLL_MS.first; ; pauseMs = Math.min(pauseMs * 2, POLL_MS.most)) {
    const { objects, why } = await look(api, references);
    if (why === null) {
      delete runtime.__kubernetes_wait_since;
      return objects;
    }
    const waitedS = (clock.now() - runtime.__kubernetes_wait_since!) / 1000;
    const limitS = Number(scope.inputs.wait_timeout ?? DEFAULT_TIMEOUT_S);
    if (waitedS >= limitS) {
      delete runtime.__kubernetes_wait_since;
      throw new FatalError(`not ready within ${limitS} s: ${why}`);
    }
    if (clock.now() - began >= SHORT_WAIT_MS || signal.aborted)
      throw new OperationDeferred(`Waiting: ${why}`, {
        checkAfter: Math.min(CHECK_AFTER_S, Math.max(1, limitS - waitedS)),
      });
    await clock.sleep(pauseMs);
  }
}

/** The present objects, and what the first unready one waits for; null: all are ready. @throws FatalError for a failed one */
async function look(
  api: KubeApi,
  references: readonly KubeObject[],
): Promise<{ objects: KubeObject[]; why: string | null }> {
  const objects: KubeObject[] = [];
  let why: string | null = null;
  for (const { apiVersion, kind, metadata } of references) {
    const reference = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace };
    const object = await api.get(reference);
    if (object === null)
      throw new FatalError(`${shownReference(reference)} has disappeared while its status was awaited`);
    const readiness = readinessOf(object);
    if (readiness.state === 'failed')
      throw new FatalError(`${shownReference(reference)} has failed: ${readiness.why}`);
    if (readiness.state === 'waiting')
      why ??= `${shownReference(reference)}: ${readiness.why}${await trouble(api, object)}`;
    objects.push(object);
  }
  return { objects, why };
}

/** What keeps the pods of a workload from running: its own status does not say it. */
async function trouble(api: KubeApi, { kind, metadata, spec }: KubeObject): Promise<string> {
  const labels = dictOf(dictOf(dictOf(spec).selector).matchLabels) as Record<string, string>;
  const isWorkload = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(kind);
  if (!isWorkload || Object.keys(labels).length === 0 || metadata.namespace === undefined) return '';
  const pods = await api.list('v1', 'Pod', metadata.namespace, labels);
  const found = pods.map(podTrouble).find((text) => text !== null);
  return found === undefined ? '' : ` (${found})`;
}
