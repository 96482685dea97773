import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';

export interface RowPath {
  version: string;
  method: string;
  path: string;
}

/** Returns the path segments of a row without its query; a parameter is null. */
function segmentsOf(path: string): (string | null)[] {
  return path
    .replace(/\?.*$/, '')
    .split('/')
    .slice(1)
    .map((part) => (/^[{:<]/.test(part) ? null : part));
}

/** Returns the route that serves a row of the specification; undefined: missing. */
export function routeOfRow(row: RowPath): RouteContract | undefined {
  const wanted = segmentsOf(row.path);
  return allRoutes
    .filter((route) => route.method === row.method && route.versions.includes(row.version as 'v3.1'))
    .filter((route) => {
      const have = segmentsOf(route.path);
      return have.length === wanted.length && have.every((part, i) => part === null || part === wanted[i]);
    })
    .sort((a, b) => parameters(a) - parameters(b))[0];
}

const parameters = (route: RouteContract): number => route.path.split('/:').length;

/** Whether a concrete path matches the row. */
export function isOfRow(row: RowPath, path: string): boolean {
  const wanted = segmentsOf(row.path);
  const have = path.replace(/\?.*$/, '').split('/').slice(1);
  return have.length === wanted.length && wanted.every((part, i) => part === null || part === have[i]);
}
