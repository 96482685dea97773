/** Maps request paths to routes: a tree of path segments for each version, compiled once from the contracts. */
import type { ApiVersion, RouteContract } from '@baton/contracts';

export interface CompiledRoute {
  contract: RouteContract;
  /** Index of a `:tenant_name` segment, which counts as the tenant of the request; -1: none. */
  tenantSegment: number;
  allowsAllTenants: boolean;
  /** A query argument `tenant_name` counts as the tenant; on lists that filter by it, it is only a filter. */
  takesTenantFromQuery: boolean;
  /** The request stays open for long or carries much data: it is forwarded on connections of its own. */
  isLong: boolean;
}

export interface RouteMatch {
  kind: 'route';
  route: CompiledRoute;
  segments: readonly string[];
}

export type Match =
  | RouteMatch
  /** The path exists, but only with other methods. */
  | { kind: 'method'; allowed: string[] }
  | { kind: 'none' };

export interface RouteTable {
  /** Finds the route. `path`: the part behind /api/<version>, undecoded. HEAD counts as GET. */
  match(version: ApiVersion, method: string, path: string): Match;
}

interface Node {
  literals: Map<string, Node>;
  parameter?: Node;
  /** A last segment `*` matches the rest of the path. */
  rest?: Node;
  routes: Map<string, CompiledRoute>;
}

const newNode = (): Node => ({ literals: new Map(), routes: new Map() });

/** Compiles the routes. @throws Error when two routes have the same version, method and path. */
export function compileRoutes(routes: readonly RouteContract[]): RouteTable {
  const trees = new Map<ApiVersion, Node>([
    ['v2.1', newNode()],
    ['v3.1', newNode()],
  ]);
  for (const contract of routes) {
    const compiled = compile(contract);
    for (const version of contract.versions) insert(trees.get(version)!, compiled);
  }
  return {
    match: (version, method, path) => {
      const segments = path.split('/').slice(1);
      // `/sites/` and `//sites` are not paths of the API.
      if (segments.includes('')) return matchWithRest(trees.get(version)!, method, segments);
      return matchSegments(trees.get(version)!, method, segments);
    },
  };
}

function compile(contract: RouteContract): CompiledRoute {
  const segments = contract.path.split('/').slice(1);
  const queryKeys = Object.keys((contract.query as { shape?: object } | undefined)?.shape ?? {});
  return {
    contract,
    tenantSegment: contract.tenant === 'none' ? -1 : segments.indexOf(':tenant_name'),
    allowsAllTenants: contract.list?.allowsAllTenants === true || queryKeys.includes('_all_tenants'),
    takesTenantFromQuery: contract.list === undefined && !queryKeys.includes('tenant_name'),
    isLong:
      contract.responseKind === 'events' ||
      contract.responseKind === 'stream' ||
      contract.rawBody === 'archive',
  };
}

function insert(tree: Node, route: CompiledRoute): void {
  let node = tree;
  for (const segment of route.contract.path.split('/').slice(1)) node = child(node, segment);
  const { method, id, path } = route.contract;
  const other = node.routes.get(method);
  if (other) throw new Error(`routes ${other.contract.id} and ${id} are both ${method} ${path}`);
  node.routes.set(method, route);
}

function child(node: Node, segment: string): Node {
  if (segment === '*') return (node.rest ??= newNode());
  if (segment.startsWith(':')) return (node.parameter ??= newNode());
  let next = node.literals.get(segment);
  if (!next) node.literals.set(segment, (next = newNode()));
  return next;
}

function matchSegments(tree: Node, method: string, segments: string[]): Match {
  const allowed = new Set<string>();
  const route = find(tree, method === 'HEAD' ? 'GET' : method, segments, 0, allowed);
  if (route) return { kind: 'route', route, segments };
  return allowed.size > 0 ? { kind: 'method', allowed: withImplied(allowed) } : { kind: 'none' };
}

/** Matches a path with empty segments: only a route that takes the rest of the path may have them. */
function matchWithRest(tree: Node, method: string, segments: string[]): Match {
  const match = matchSegments(tree, method, segments);
  const isRest = match.kind === 'route' && match.route.contract.path.endsWith('/*');
  return isRest ? match : { kind: 'none' };
}

/**
 * Literal segments take precedence over parameters, and a parameter over the rest; `allowed` collects the methods of routes that
 * match only by path.
 */
function find(
  node: Node,
  method: string,
  segments: string[],
  at: number,
  allowed: Set<string>,
): CompiledRoute | undefined {
  if (at === segments.length) return ending(node, method, allowed);
  const literal = node.literals.get(segments[at]!);
  return (
    (literal && find(literal, method, segments, at + 1, allowed)) ??
    (node.parameter && find(node.parameter, method, segments, at + 1, allowed)) ??
    (node.rest && ending(node.rest, method, allowed))
  );
}

function ending(node: Node, method: string, allowed: Set<string>): CompiledRoute | undefined {
  const route = node.routes.get(method);
  if (!route) for (const known of node.routes.keys()) allowed.add(known);
  return route;
}

function withImplied(methods: Set<string>): string[] {
  if (methods.has('GET')) methods.add('HEAD');
  methods.add('OPTIONS');
  return [...methods].sort();
}
