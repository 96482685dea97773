/** The versions of the API and the routes of each version (reference/rest-api.md "Versions and routing"). */
import type { ApiVersion } from '@baton/contracts';

export interface ApiPath {
  /** Version whose contracts are used and under which the request is forwarded. */
  version: ApiVersion;
  /** Path below /api/<version>, with its leading slash, without the query. */
  path: string;
  /** v1 answered lists as bare arrays. */
  hasBareLists: boolean;
}

/** First path segments of the first v3. Every other route came with v3.1 and is 404 under v3. */
const IN_V3 = new Set(
  `blueprints cluster deployments deployment-modifications deployment-updates evaluate events executions
   file-server-auth ldap maintenance node-instances nodes plugins provider roles secrets snapshots status tenants
   tokens user user-groups users version`.split(/\s+/),
);

const firstSegment = (path: string): string =>
  path.slice(1, path.indexOf('/', 1) < 0 ? undefined : path.indexOf('/', 1));

/**
 * Whether the route is closed in v1: v1 searched its events in another way that no longer exists, so no method is left there
 * (reference/rest-api.md 1.3).
 */
export const isClosedInV1 = ({ hasBareLists, path }: ApiPath): boolean =>
  hasBareLists && firstSegment(path) === 'events';

/** Version and path of a request path; null when it is not below a version of the API. */
export function parseApiPath(path: string): ApiPath | null {
  if (path.startsWith('/api/v3.1/')) return { version: 'v3.1', path: path.slice(9), hasBareLists: false };
  if (path.startsWith('/api/v2.1/')) return { version: 'v2.1', path: path.slice(9), hasBareLists: false };
  if (path.startsWith('/api/v3/')) {
    const rest = path.slice(7);
    return IN_V3.has(firstSegment(rest)) ? { version: 'v3.1', path: rest, hasBareLists: false } : null;
  }
  // The routes of v1 and v2 are the routes of v2.1.
  if (path.startsWith('/api/v2/')) return { version: 'v2.1', path: path.slice(7), hasBareLists: false };
  if (path.startsWith('/api/v1/')) return { version: 'v2.1', path: path.slice(7), hasBareLists: true };
  // The file server (5.30) lies beside the API; clients use its paths without a version.
  if (path.startsWith('/resources/')) return { version: 'v3.1', path, hasBareLists: false };
  // The only route without a version: clients ask it which versions they may use.
  if (path === '/api/version') return { version: 'v3.1', path: '/version', hasBareLists: false };
  return null;
}
