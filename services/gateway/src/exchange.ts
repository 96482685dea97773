/** The state of one request while it passes through the steps of the gateway. */
import type { RouteContract } from '@baton/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { ApiPath } from './api-versions';
import type { Caller } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { Visit } from './room';
import type { CompiledRoute } from './route-table';

/** Facts known when a request comes in. */
export interface Arrival {
  request: Request;
  response: Response;
  startedMs: number;
  method: string;
  api: ApiPath;
  query: string;
  address: string;
  /** [name, value, ...] of the answer, also when a service writes it. */
  answerHeaders: string[];
}

/** Each step stores its results here and reads the results of the steps before it. */
export class Exchange implements Arrival {
  readonly request: Request;
  readonly response: Response;
  readonly startedMs: number;
  readonly method: string;
  readonly api: ApiPath;
  readonly query: string;
  readonly address: string;
  readonly answerHeaders: string[];
  /** The following three fields are set by the step that finds the route. */
  headers!: RequestHeaders;
  route!: CompiledRoute;
  segments!: readonly string[];
  /** Null until the route is known. */
  contract: RouteContract | null = null;
  /** Set by the step that counts the request in. */
  visit!: Visit;
  /** Null when the caller is unknown, or when the route needs no caller. */
  caller: Caller | null = null;
  /** Reason of a refusal by the gateway itself; null when it refused nothing. */
  reason: string | null = null;

  constructor(arrival: Arrival) {
    this.request = arrival.request;
    this.response = arrival.response;
    this.startedMs = arrival.startedMs;
    this.method = arrival.method;
    this.api = arrival.api;
    this.query = arrival.query;
    this.address = arrival.address;
    this.answerHeaders = arrival.answerHeaders;
  }

  get hasBody(): boolean {
    return this.headers.isChunked || this.headers.contentLength > 0;
  }
}

type EdgeRequest = Request & { exchange?: Exchange };

export function setExchange(request: Request, exchange: Exchange): void {
  (request as EdgeRequest).exchange = exchange;
}

/** Returns undefined for a request that is not a request of the API. */
export const exchangeOf = (request: Request): Exchange | undefined => (request as EdgeRequest).exchange;

/** Goes on with a result at once when it is there: a promise costs about a microsecond, and nearly all steps need none. */
export const andThen = <T, R>(result: T | Promise<T>, next: (result: T) => R): R | Promise<Awaited<R>> =>
  result instanceof Promise ? (result.then(next) as Promise<Awaited<R>>) : next(result);

/**
 * Makes one middleware of the steps for requests of the API. A step runs when the step before it has returned, or its promise has
 * resolved, unless that step returned `false`. It is one middleware because each takes the router of Express most of a microsecond.
 */
export function inOrder(...steps: ((exchange: Exchange) => unknown)[]): RequestHandler {
  const runFrom = (first: number, exchange: Exchange): Promise<void> | undefined => {
    for (let i = first; i < steps.length; i++) {
      const done = steps[i]!(exchange);
      if (done === false) return undefined;
      if (done instanceof Promise)
        return done.then((result) => (result === false ? undefined : runFrom(i + 1, exchange)));
    }
    return undefined;
  };
  return (request) => runFrom(0, exchangeOf(request)!);
}
