import { isDict, type KubeObject } from '../client/kube-object';

const HIDDEN = '********';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object for runtime properties, which every user of the tenant reads: no values of secrets, no lists of managers. */
export function shownObject(object: KubeObject): KubeObject {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  const { [LAST_APPLIED]: __, ...others } = annotations ?? {};
  const shown: KubeObject = { ...object, metadata };
  if (annotations !== undefined) shown.metadata.annotations = others;
  if (object.kind !== 'Secret') return shown;
  for (const name of ['data', 'stringData'])
    if (isDict(shown[name]))
      shown[name] = Object.fromEntries(Object.keys(shown[name]).map((key) => [key, HIDDEN]));
  return shown;
}
