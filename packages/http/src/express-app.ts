/**
 * Express applications whose messages have the right class from the start. Express converts each request and response by
 * `Object.setPrototypeOf`, which costs more than all its other work (docs/adr/0022-express.md). A server that creates its messages
 * from `messageClasses` avoids this cost: their prototypes are already the ones that Express would set.
 *
 * All applications of a process have the same two prototypes. So one application may pass a request to another one (the gateway to
 * the services in standalone), and no prototype has to be set there either.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { parse } from 'fast-querystring';

class ExpressRequest extends IncomingMessage {}
class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}

/** For `createServer` of node:http and node:https. */
export const messageClasses = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };

/** Express reads settings from the application that the shared prototypes name; no other application differs from it. */
const shared = configured(express());
for (const [{ prototype }, kind] of [
  [ExpressRequest, express.request],
  [ExpressResponse, express.response],
] as const) {
  Object.setPrototypeOf(prototype, kind);
  Object.defineProperty(prototype, 'app', { value: shared, configurable: true, writable: true });
}

function configured(app: Express): Express {
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', parse);
  return app;
}

/**
 * Creates an application without the headers that Express adds by itself. Paths are case-sensitive, a trailing slash counts, and
 * queries are read as `{name: text or texts}`.
 */
export function createExpress(): Express {
  const app = configured(express());
  app.request = ExpressRequest.prototype as unknown as Request;
  app.response = ExpressResponse.prototype as unknown as Response;
  return app;
}

/** A request in progress in a service. */
export interface ServedRequest extends Request {
  /** Set by the first handler. */
  id: string;
  /** The id of the contract, or the plain path, that the request matched. */
  routeId?: string;
}
