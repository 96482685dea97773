/** What an address of the API names. */
export interface Address {
  group: string;
  version: string;
  namespace?: string;
  resource: string;
  name?: string;
  subresource?: string;
}

/** Reads `/api/v1/namespaces/x/pods/y/log` and the like; null: it names no resource. */
export function addressOf(pathname: string): Address | null {
  const parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const [root, ...rest] = parts;
  if (root !== 'api' && root !== 'apis') return null;
  const group = root === 'api' ? '' : rest.shift();
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0) return null;
  // `/namespaces/x` and its subresources are the namespace itself.
  const isInside = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!);
  const namespace = isInside ? rest.splice(0, 2)[1] : undefined;
  const [resource, name, subresource] = rest;
  return { group, version, namespace, resource: resource!, name, subresource };
}
