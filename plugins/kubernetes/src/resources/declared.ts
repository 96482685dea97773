import { FatalError } from '@baton/plugin-sdk';
import type { KubeApi } from '../client/kube-api';
import { type KubeObject, type Reference, shownReference } from '../client/kube-object';

/** An object as the blueprint declares it. */
export interface Declared {
  /** The key of its last state in the runtime property `kubernetes`; null: the node has one object alone. */
  key: string | null;
  object: KubeObject;
}

/** Puts objects of namespaced kinds into a namespace, and takes the namespace from the others. @throws FatalError for an object that is there twice */
export async function placed(
  api: KubeApi,
  declared: readonly Declared[],
  namespace: string,
): Promise<Declared[]> {
  const result: Declared[] = [];
  for (const { key, object } of declared)
    result.push({ key, object: await inNamespace(api, object, namespace, declared) });
  requireDistinct(result);
  return result;
}

async function inNamespace(
  api: KubeApi,
  object: KubeObject,
  namespace: string,
  all: readonly Declared[],
): Promise<KubeObject> {
  const { namespace: own, ...metadata } = object.metadata;
  // The kind of a definition beside it is not known to the cluster yet. Of others an apply says what is wrong.
  const scope = scopeOfOwnDefinition(object, all);
  const isNamespaced =
    scope ?? (await api.discovery.find(object.apiVersion, object.kind))?.isNamespaced ?? true;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(isNamespaced ? { namespace: own || namespace } : {}),
    } as KubeObject['metadata'],
  };
}

function scopeOfOwnDefinition(
  { apiVersion, kind }: KubeObject,
  all: readonly Declared[],
): boolean | undefined {
  const found = all.find(({ object }) => {
    const { group, names } = (object.spec ?? {}) as { group?: string; names?: { kind?: string } };
    return (
      object.kind === 'CustomResourceDefinition' && names?.kind === kind && apiVersion.startsWith(`${group}/`)
    );
  });
  return found === undefined ? undefined : found.object.spec?.scope === 'Namespaced';
}

function requireDistinct(declared: readonly Declared[]): void {
  const seen = new Set<string>();
  for (const { object } of declared) {
    const name = identityOf({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind });
    if (seen.has(name))
      throw new FatalError(
        `the node declares ${shownReference({ ...object.metadata, kind: object.kind })} twice`,
      );
    seen.add(name);
  }
}

/** Tells objects apart, whatever version of their group is written. */
export const identityOf = ({ apiVersion, kind, namespace, name }: Reference): string =>
  JSON.stringify([apiVersion.includes('/') ? apiVersion.split('/')[0] : '', kind, namespace ?? '', name]);
