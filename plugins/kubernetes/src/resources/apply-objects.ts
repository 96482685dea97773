import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { KubeApi } from '../client/kube-api';
import { type KubeObject, type Reference, referenceOf, shownReference } from '../client/kube-object';
import { type Declared, identityOf, placed } from './declared';
import { readinessOf } from './readiness';
import { removeObjects } from './remove-objects';
import { isHealing, type Kept, type ResourceScope } from './scope';
import { shownObject } from './shown-object';

const DEFINITION_TRIES = 40;
const DEFINITION_PAUSE_MS = 250;

/**
 * Makes the declared objects, in their order. What exists already is taken as it is, when the node may use it.
 * A worker that dies in the middle is no harm: an apply may be repeated, and fields that this instance has applied tell its objects.
 * @throws FatalError for objects that exist and may not be used, and for fields that others own
 */
export async function createObjects(
  scope: ResourceScope,
  api: KubeApi,
  declared: readonly Declared[],
): Promise<void> {
  const { properties } = scope;
  const kept: Kept[] = [];
  const states: [Declared, KubeObject][] = [];
  for (const one of await placed(api, declared, properties.options.namespace)) {
    const reference = ofDeclared(one);
    const present = await api.get(reference);
    if (present?.metadata.deletionTimestamp !== undefined)
      throw new RetryableError(`${shownReference(reference)} is being removed`);
    const origin = originOf(scope, api, reference, present);
    const isApplied = present === null || api.isOwn(present) || isHealing(scope);
    const mayApply = origin !== 'external' || present === null;
    const state =
      isApplied && mayApply ? await api.apply(one.object, { isForced: isHealing(scope) }) : present!;
    if (state === present) scope.log.info(`${shownReference(reference)} exists: it is used as it is`);
    await afterApply(scope, api, state);
    kept.push({ ...referenceOf(state), key: one.key, origin });
    states.push([one, state]);
    scope.runtime.__kubernetes_objects = [...kept, ...beyond(scope, kept)];
    scope.progress(
      kept.length,
      declared.length,
      `${shownReference(reference)}: ${present === null ? 'made' : 'there'}`,
    );
  }
  scope.runtime.kubernetes = shownStates(states);
}

/** Earlier objects that this run has not come to yet: after a failure they must not be forgotten. */
const beyond = ({ runtime }: ResourceScope, kept: readonly Kept[]): Kept[] => {
  const seen = new Set(kept.map(identityOf));
  return (runtime.__kubernetes_objects ?? []).filter((one) => !seen.has(identityOf(one)));
};

const ofDeclared = ({ object: { apiVersion, kind, metadata } }: Declared): Reference => ({
  apiVersion,
  kind,
  name: metadata.name,
  namespace: metadata.namespace,
});

function originOf(
  scope: ResourceScope,
  api: KubeApi,
  reference: Reference,
  present: KubeObject | null,
): Kept['origin'] {
  const {
    use_external_resource: isExternal,
    create_if_missing: mayMake,
    use_if_exists: mayUse,
  } = scope.properties;
  const before = scope.runtime.__kubernetes_objects?.find((one) => identityOf(one) === identityOf(reference));
  if (before !== undefined && present !== null) return before.origin;
  const name = shownReference(reference);
  if (present === null) {
    if (isExternal && !mayMake)
      throw new RetryableError(
        `${name} should exist (use_external_resource), and does not; create_if_missing would make it`,
      );
    // As in the original: what stands in for an external object is not removed.
    return isExternal ? 'external' : 'made';
  }
  if (isExternal) return 'external';
  if (api.isOwn(present)) return 'made';
  if (mayUse) return 'taken';
  throw new FatalError(`${name} exists already, and use_if_exists is false`);
}

/** A definition adds kinds, and objects of these may be next. */
async function afterApply({ signal, clock }: ResourceScope, api: KubeApi, state: KubeObject): Promise<void> {
  if (state.kind !== 'CustomResourceDefinition') return;
  const reference = referenceOf(state);
  for (let tries = 0; tries < DEFINITION_TRIES && !signal.aborted; tries++) {
    const present = await api.get(reference);
    if (present !== null && readinessOf(present).state === 'ready') return api.discovery.forget();
    await clock.sleep(DEFINITION_PAUSE_MS);
  }
  throw new RetryableError(`${shownReference(reference)} is not established yet`);
}

/** The states for the runtime property `kubernetes`: one object, or objects by their keys. */
export function shownStates(
  states: readonly (readonly [{ key: string | null }, KubeObject])[],
): Record<string, unknown> {
  const [first] = states;
  if (first !== undefined && first[0].key === null) return shownObject(first[1]);
  return Object.fromEntries(states.map(([{ key }, state]) => [key, shownObject(state)]));
}

/**
 * Brings the objects to what is declared now; fields of others are taken over. Objects that are no longer declared are removed.
 * @throws FatalError when objects disappear and allow_node_redefinition is false
 */
export async function updateObjects(
  scope: ResourceScope,
  api: KubeApi,
  declared: readonly Declared[],
): Promise<void> {
  const { properties, runtime, log } = scope;
  if (properties.use_external_resource) {
    log.info('The objects are external: they are not changed');
    return;
  }
  const wanted = await placed(api, declared, properties.options.namespace);
  const before = runtime.__kubernetes_objects ?? [];
  const names = new Set(wanted.map((one) => identityOf(ofDeclared(one))));
  const gone = before.filter((one) => !names.has(identityOf(one)));
  if (gone.length > 0 && !properties.allow_node_redefinition)
    throw new FatalError(
      `the node no longer declares ${gone.map(shownReference).join(', ')}, and allow_node_redefinition is false`,
    );
  const states: [Declared, KubeObject][] = [];
  const kept: Kept[] = [];
  for (const one of wanted) {
    const state = await api.apply(one.object, { isForced: true });
    await afterApply(scope, api, state);
    const origin = before.find((old) => identityOf(old) === identityOf(ofDeclared(one)))?.origin ?? 'made';
    kept.push({ ...referenceOf(state), key: one.key, origin });
    states.push([one, state]);
    runtime.__kubernetes_objects = [...kept, ...beyond(scope, kept)];
  }
  await removeObjects(scope, api, gone);
  runtime.__kubernetes_objects = kept;
  runtime.kubernetes = shownStates(states);
}
