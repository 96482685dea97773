/** Paths of the file server (reference/rest-api.md 5.30). Pure; gateway and catalog read paths in the same way. */

export interface ResourceUri {
  /** First folder: blueprints, uploaded-blueprints, deployments, tenant-resources, ... */
  root: string;
  /** Empty when the folder belongs to no tenant. */
  tenant: string;
  /** The remaining segments, decoded; the last one is empty when the path ends with a slash. */
  rest: string[];
}

/** Folders whose second segment is a tenant. */
const OF_TENANTS = new Set(['blueprints', 'uploaded-blueprints', 'deployments', 'tenant-resources']);

/**
 * Parses `uri`: a path with or without its query, below `/resources/` or `/api/<version>/resources/`. Null: not a path
 * of the file server, or a path that another reader could interpret differently.
 */
export function parseResourceUri(uri: string): ResourceUri | null {
  const path = uri.split(/[?#]/, 1)[0]!;
  const below = /^(?:\/api\/v[\d.]+)?\/resources\/(.*)$/s.exec(path)?.[1];
  if (below === undefined) return null;
  const segments = below.split('/').map(decoded);
  if (segments.some((segment, at) => isRefused(segment, at === segments.length - 1))) return null;
  const [root, ...rest] = segments as string[];
  if (!root) return null;
  if (!OF_TENANTS.has(root)) return { root, tenant: '', rest };
  const [tenant, ...inside] = rest;
  return tenant ? { root, tenant, rest: inside } : null;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
const AMBIGUOUS = /^\.\.?$|[/\\\u0000-\u001f\u007f]/;

/** Only the last segment may be empty: the path is then a folder. */
const isRefused = (segment: string | null, isLast: boolean): boolean =>
  segment === null || (segment === '' ? !isLast : AMBIGUOUS.test(segment));

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
