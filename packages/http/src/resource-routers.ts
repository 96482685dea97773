/**
 * One Express router per resource, found by the first segments of the path. Express tries its routes one after another: the largest
 * service has about a hundred routes, a resource has ten at most.
 */
import { type IRoute, type RequestHandler, Router } from 'express';
import { bySpecificity, expressPath, shapeOf } from './route-paths';

/** `/api/v3.1/things/a/b` belongs to the resource `/api/v3.1/things`, `/healthz` to itself. */
const SEGMENTS = 3;

export interface MountedRoute {
  /** GET, POST, PUT, PATCH or DELETE. */
  method: string;
  /** Path as in the contract, from its first slash; the first three segments are literal. */
  path: string;
  handler: RequestHandler;
}

/** The resource that a request target belongs to. */
function resourceOf(url: string): string {
  let end = 0;
  for (let i = 0; i < SEGMENTS; i++) {
    end = url.indexOf('/', end + 1);
    if (end < 0) break;
  }
  const query = url.indexOf('?');
  if (end < 0 || (query >= 0 && query < end)) end = query;
  return end < 0 ? url : url.slice(0, end);
}

/**
 * Passes a request to the router of its resource. Methods that no route has (among them HEAD and OPTIONS, which Express would
 * answer by itself) go on to the next handler.
 * @throws Error when two routes share method and path, or when a resource is no literal path.
 */
export function resourceRouters(routes: readonly MountedRoute[]): RequestHandler {
  const routers = routersOf(routes);
  const methods = new Set(routes.map(({ method }) => method));
  return (request, response, next) => {
    const router = methods.has(request.method) ? routers.get(resourceOf(request.url)) : undefined;
    if (router) router(request, response, next);
    else next();
  };
}

function routersOf(routes: readonly MountedRoute[]): Map<string, Router> {
  const routers = new Map<string, Router>();
  const places = new Map<string, IRoute>();
  const known = new Set<string>();
  for (const { method, path, handler } of [...routes].sort((a, b) => bySpecificity(a.path, b.path))) {
    const shape = `${method} ${shapeOf(path)}`;
    if (known.has(shape)) throw new Error(`two routes are ${method} ${path}`);
    known.add(shape);
    let place = places.get(path);
    if (!place) places.set(path, (place = routerOf(routers, path).route(expressPath(path))));
    place[method.toLowerCase() as 'get'](handler);
  }
  return routers;
}

function routerOf(routers: Map<string, Router>, path: string): Router {
  const resource = resourceOf(path);
  if (/[:*]/.test(resource)) throw new Error(`the first segments of ${path} must be literal`);
  let router = routers.get(resource);
  if (!router) routers.set(resource, (router = Router({ caseSensitive: true, strict: true })));
  return router;
}
