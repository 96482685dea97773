// The objects of a release, as its manifest names them.
import type { Difference } from '@baton/plugin-sdk';
import {
  differencesOf,
  type KubeApi,
  type KubeObject,
  readinessOf,
  readManifests,
  shownReference,
} from 'cloudify-kubernetes-plugin/cluster';

interface PresentObject {
  declared: KubeObject;
  /** Null: it is missing. */
  present: KubeObject | null;
}

/** Reads the objects of a manifest in the cluster. */
export async function presentObjects(
  api: KubeApi,
  manifest: string,
  namespace: string,
): Promise<PresentObject[]> {
  if (manifest.replace(/^(---|#.*|\s*)$/gm, '') === '') return [];
  const result: PresentObject[] = [];
  for (const object of readManifests(manifest, 'the manifest of the release')) {
    const type = await api.discovery.find(object.apiVersion, object.kind);
    const { namespace: own, ...metadata } = object.metadata;
    const place = type?.isNamespaced === false ? {} : { namespace: own ?? namespace };
    const declared = { ...object, metadata: { ...metadata, ...place } as KubeObject['metadata'] };
    result.push({ declared, present: await api.get(referenceOf(declared)) });
  }
  return result;
}

const referenceOf = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  namespace: metadata.namespace,
});

const nameOf = (object: KubeObject): string => shownReference(referenceOf(object));

/** For runtime properties: ready, missing, or what an object waits for. */
export const shownStates = (objects: readonly PresentObject[]): Record<string, string> =>
  Object.fromEntries(
    objects.map(({ declared, present }) => {
      const readiness = present === null ? null : readinessOf(present);
      const state = readiness === null ? 'missing' : readiness.state === 'ready' ? 'ready' : readiness.why;
      return [nameOf(declared), state];
    }),
  );

export const missingOf = (objects: readonly PresentObject[]): string[] =>
  objects.filter(({ present }) => present === null).map(({ declared }) => nameOf(declared));

/** What an apply of the manifest would change; a missing object is one difference. */
export async function driftOfObjects(api: KubeApi, objects: readonly PresentObject[]): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const { declared, present } of objects) {
    const path = `${declared.kind}/${declared.metadata.name}`;
    if (present === null) found.push({ path, stored: 'there', present: null });
    else
      found.push(
        ...differencesOf(await api.apply(declared, { isForced: true, isDryRun: true }), present, path),
      );
  }
  return found;
}
