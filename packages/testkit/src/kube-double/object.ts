/** A dictionary of JSON values whose members nobody knows before. */
export type Dict = Record<string, unknown>;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Metadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFields[];
}

export interface ManagedFields {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time: string;
  fieldsType: 'FieldsV1';
  fieldsV1: Dict;
  subresource?: string;
}

/** An object of the API of Kubernetes. */
export interface KubeObject extends Dict {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec?: Dict;
  status?: Dict;
}

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const dictOf = (value: unknown): Dict => (isDict(value) ? value : {});
export const listOf = (value: unknown): Dict[] => (Array.isArray(value) ? value.filter(isDict) : []);

/** Deep equality of JSON values; the order of members does not count. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isDict(a) || !isDict(b)) return false;
  const [left, right] = [definedKeys(a), definedKeys(b)];
  return left.length === right.length && left.every((key) => key in b && isSame(a[key], b[key]));
}

const definedKeys = (value: Dict): string[] => Object.keys(value).filter((key) => value[key] !== undefined);
