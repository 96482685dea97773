import { OperationDeferred } from '@baton/plugin-sdk';
import type { KubeApi } from '../client/kube-api';
import { shownReference } from '../client/kube-object';
import type { Kept, ResourceScope } from './scope';

const SHORT_WAIT_MS = 10_000;
const POLL_MS = { first: 100, most: 2_000 };
const CHECK_AFTER_S = 5;

/**
 * Removes objects, the last ones first, and waits until they and their dependents are gone. An object that somebody has made anew
 * under the same name stays.
 * @throws OperationDeferred when it takes longer than a few seconds
 */
export async function removeObjects(
  scope: ResourceScope,
  api: KubeApi,
  objects: readonly Kept[],
): Promise<void> {
  const { grace_period_seconds: graceSeconds, propagation_policy: propagation = 'Foreground' } =
    scope.properties.options;
  const waited: Kept[] = [];
  for (const one of [...objects].reverse()) {
    const name = shownReference(one);
    if (one.origin === 'external') {
      scope.log.info(`${name} is external: it stays`);
      continue;
    }
    const has = await api.delete(one, { graceSeconds, propagation });
    scope.log.info(has ? `${name} is being removed` : `${name} is not there any more`);
    if (has) waited.push(one);
  }
  await untilGone(scope, api, waited);
}

async function untilGone(
  { signal, clock }: ResourceScope,
  api: KubeApi,
  objects: readonly Kept[],
): Promise<void> {
  const began = clock.now();
  let left = [...objects];
  for (let pauseMs = POLL_MS.first; left.length > 0; pauseMs = Math.min(pauseMs * 2, POLL_MS.most)) {
    const there: Kept[] = [];
    for (const one of left) {
      const present = await api.get(one);
      if (present !== null && (one.uid === undefined || present.metadata.uid === one.uid)) there.push(one);
    }
    left = there;
    if (left.length === 0) return;
    if (clock.now() - began > SHORT_WAIT_MS || signal.aborted)
      throw new OperationDeferred(
        `Waiting until ${left.map(shownReference).slice(0, 3).join(', ')} is removed`,
        {
          checkAfter: CHECK_AFTER_S,
        },
      );
    await clock.sleep(pauseMs);
  }
}
