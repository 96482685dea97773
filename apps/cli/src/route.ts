import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';

const byId = new Map(allRoutes.map((route) => [route.id, route]));

/** The contract of an operation. @throws Error for an id that is none: a bug of the command. */
export function routeOf(id: string): RouteContract {
  const route = byId.get(id);
  if (!route) throw new Error(`no route ${id}`);
  return route;
}
