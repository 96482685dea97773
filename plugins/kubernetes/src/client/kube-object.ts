/** A dictionary whose members nobody knows before. */
export type Dict = Record<string, unknown>;

export interface KubeObject extends Dict {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    generation?: number;
    resourceVersion?: string;
    deletionTimestamp?: string;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
    managedFields?: { manager?: string; operation?: string }[];
  } & Dict;
  spec?: Dict;
  status?: Dict;
}

/** What names an object in a cluster. */
export interface Reference {
  apiVersion: string;
  kind: string;
  name: string;
  /** Undefined: the object is in no namespace. */
  namespace?: string;
  uid?: string;
}

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const dictOf = (value: unknown): Dict => (isDict(value) ? value : {});
export const listOf = (value: unknown): Dict[] => (Array.isArray(value) ? value.filter(isDict) : []);

/** For people: `Deployment web in default`. */
export const shownReference = ({ kind, name, namespace }: Omit<Reference, 'apiVersion'>): string =>
  `${kind} ${name}${namespace === undefined ? '' : ` in ${namespace}`}`;

export const referenceOf = ({ apiVersion, kind, metadata }: KubeObject): Reference => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
});
