/**
 * Express applications whose messages are of the right class from the start. Express turns each request and response into
 * its own kind by `Object.setPrototypeOf`, which costs more than everything else that it does (docs/adr/0022-express.md).
 * A server that makes its messages from `messageClasses` spares that: the prototypes are already what Express would set.
 *
 * All applications of a process have the same two prototypes, so that one application may hand a request to another
 * (the gateway to the services in standalone) and nothing has to be set there either.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { parse } from 'fast-querystring';

class ExpressRequest extends IncomingMessage {}
class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}

/** For `createServer` of node:http and node:https. */
export const messageClasses = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };

/** Settings belong to the application that the shared prototypes name; no other application differs from it. */
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
 * A new application without what Express adds to answers by itself. Paths are compared letter by letter, a trailing slash
 * counts, and queries are read as `{name: text or texts}`.
 */
export function createExpress(): Express {
  const app = configured(express());
  app.request = ExpressRequest.prototype as unknown as Request;
  app.response = ExpressResponse.prototype as unknown as Response;
  return app;
}

/** A request under way in a service. */
export interface ServedRequest extends Request {
  /** Set by the first step. */
  id: string;
  /** The contract's id or the plain path that it matched. */
  routeId?: string;
}
