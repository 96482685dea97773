/**
 * Converts paths of contracts (`/things/:id`, `/files/*`) for Express's router, and sorts them in the order in which it must try
 * them.
 */

/** Characters with a special meaning for path-to-regexp. */
const SPECIAL = /[{}()[\]+?!:*\\]/g;

/**
 * Returns the path for Express. Parameter names are quoted, so that a name may hold any character. The rest of a path may be empty;
 * its value is a list of its segments under the name `*`.
 */
export function expressPath(path: string): string {
  return path
    .split('/')
    .map((segment) => {
      if (segment === '*') return '{*"*"}';
      if (!segment.startsWith(':')) return segment.replace(SPECIAL, '\\$&');
      return `:"${segment.slice(1).replace(/["\\]/g, '\\$&')}"`;
    })
    .join('/');
}

/** Returns the path without parameter names: equal for two paths that match the same requests. */
export const shapeOf = (path: string): string => path.replace(/\/:[^/]+/g, '/:');

const rank = (segment: string | undefined): number => {
  if (segment === undefined) return 0;
  if (segment === '*') return 3;
  return segment.startsWith(':') ? 2 : 1;
};

/**
 * Sort order for Express, which takes the first path that matches: a literal segment before a parameter, a parameter before the
 * rest.
 */
export function bySpecificity(one: string, other: string): number {
  const [ones, others] = [one.split('/'), other.split('/')];
  for (let i = 0; i < Math.max(ones.length, others.length); i++) {
    const difference = rank(ones[i]) - rank(others[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}
