// The operations of all resources, over the objects that a node declares.
import type { Difference, Present } from '@baton/plugin-sdk';
import type { KubeApi } from '../client/kube-api';
import type { KubeObject } from '../client/kube-object';
import { createObjects, shownStates, updateObjects } from './apply-objects';
import { type Declared, placed } from './declared';
import { differencesOf } from './drift';
import { removeObjects } from './remove-objects';
import { isHealing, openApi, type ResourceScope } from './scope';
import { waitUntilReady } from './wait';

/** Reads what a node declares. */
export type Declaring<S extends ResourceScope> = (scope: S, api: KubeApi) => Promise<Declared[]>;

export function resourceOperations<S extends ResourceScope>(declaring: Declaring<S>) {
  const open = async (scope: S) => {
    const api = await openApi(scope);
    return { api, declared: await declaring(scope, api) };
  };
  return {
    async create(scope: S): Promise<void> {
      const { api, declared } = await open(scope);
      await createObjects(scope, api, declared);
    },
    /** Waits where the node wants that, and stores the state. */
    async poststart(scope: S): Promise<void> {
      const { api, declared } = await open(scope);
      const wanted = await placed(api, declared, scope.properties.options.namespace);
      const states = scope.properties.validate_resource_status
        ? await waitUntilReady(
            scope,
            api,
            wanted.map(({ object }) => object),
          )
        : await presentOf(api, wanted);
      scope.runtime.kubernetes = shownStates(pairs(wanted, states));
    },
    /** Null: an object is missing. */
    async read(scope: S): Promise<Present | null> {
      const { api, declared } = await open(scope);
      const wanted = await placed(api, declared, scope.properties.options.namespace);
      const states = await presentOf(api, wanted);
      return states.includes(null) ? null : { kubernetes: shownStates(pairs(wanted, states)) };
    },
    /** What an apply would change, found by applies without an effect. Objects of others are as they should be. */
    async drift(scope: S): Promise<Difference[]> {
      if (scope.properties.use_external_resource) return [];
      const { api, declared } = await open(scope);
      const wanted = await placed(api, declared, scope.properties.options.namespace);
      const states = await presentOf(api, wanted);
      const found: Difference[] = [];
      for (const [i, { object }] of wanted.entries()) {
        const present = states[i];
        if (!present) continue;
        const applied = await api.apply(object, { isForced: true, isDryRun: true });
        const { kind, metadata } = object;
        found.push(
          ...differencesOf(applied, present, wanted.length === 1 ? kind : `${kind}/${metadata.name}`),
        );
      }
      return found;
    },
    async update(scope: S): Promise<void> {
      const { api, declared } = await open(scope);
      await updateObjects(scope, api, declared);
    },
    /** As a part of heal it removes nothing: create repairs what is there. */
    async delete(scope: S): Promise<void> {
      if (isHealing(scope)) return;
      const { runtime } = scope;
      if (runtime.__kubernetes_objects !== undefined)
        await removeObjects(scope, await openApi(scope), runtime.__kubernetes_objects);
      for (const name of Object.keys(runtime)) delete (runtime as Record<string, unknown>)[name];
    },
  };
}

async function presentOf(api: KubeApi, wanted: readonly Declared[]): Promise<(KubeObject | null)[]> {
  const states: (KubeObject | null)[] = [];
  for (const { object } of wanted)
    states.push(
      await api.get({
        apiVersion: object.apiVersion,
        kind: object.kind,
        name: object.metadata.name,
        namespace: object.metadata.namespace,
      }),
    );
  return states;
}

const pairs = (
  wanted: readonly Declared[],
  states: readonly (KubeObject | null)[],
): [Declared, KubeObject][] =>
  wanted.flatMap((one, i): [Declared, KubeObject][] => (states[i] ? [[one, states[i]]] : []));
