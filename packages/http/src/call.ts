import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiVersion, ListQuery, Principal, RouteContract } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type { z } from 'zod';
import type { HttpAnswer } from './answer';

/** The input of a handler: everything is already checked against the route's contract. */
export interface HttpCall<Body = any, Query = any> {
  principal: Principal;
  version: ApiVersion;
  /** Path parameters, decoded; the rest of a `*` path is `params['*']`. */
  params: Record<string, string>;
  query: Query;
  /** Only on routes with a ListContract. */
  list: ListQuery;
  /** `_include` of routes without a ListContract; null = all. This package reduces the answer to it. */
  include: string[] | null;
  /** Parsed JSON body. */
  body: Body;
  /** Request stream of a rawBody `archive` route; nothing has been read from it. */
  raw: IncomingMessage;
  /** False when the request came without any body (e.g. an upload by URL). */
  hasBody: boolean;
  contentType: string;
  /** Body of a rawBody `text` route. */
  text: string;
  headers: IncomingHttpHeaders;
  requestId: string;
  idempotencyKey: string | null;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** Log whose lines carry requestId. */
  readonly log: Log;
}

type Parsed<T, Absent> = T extends z.ZodType ? z.output<T> : Absent;
type BodyOf<C extends RouteContract> = C extends { body: infer B } ? Parsed<B, any> : any;
/** A route without a query schema has no parameters besides those of its list; `never` values make reading others a type error. */
type NoQuery = Readonly<Record<string, never>>;
type QueryOf<C extends RouteContract> = C extends { query: infer Q }
  ? Parsed<Q, any>
  : string extends C['id']
    ? any
    : NoQuery;

/** Handler of one route; body and query are typed by the contract. */
export type Handler<C extends RouteContract = RouteContract> = (
  call: HttpCall<BodyOf<C>, QueryOf<C>>,
) => Promise<HttpAnswer> | HttpAnswer;

export interface BoundRoute {
  contract: RouteContract;
  handler: Handler;
}

export type HandlersOf<R extends readonly RouteContract[]> = {
  [K in R[number]['id']]: Handler<Extract<R[number], { id: K }>>;
};

/**
 * Joins contracts and handlers by id; a missing handler is a type error.
 * @throws Error when a handler is missing at run time (a table that lost its literal types).
 */
export function bindRoutes<const R extends readonly RouteContract[]>(
  routes: R,
  handlers: HandlersOf<R>,
): BoundRoute[] {
  const byId = handlers as unknown as Record<string, Handler | undefined>;
  return routes.map((contract) => {
    const handler = byId[contract.id];
    if (!handler) throw new Error(`route ${contract.id} has no handler`);
    return { contract, handler };
  });
}
