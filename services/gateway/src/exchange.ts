/** One request on its way through the steps of the edge. */
import type { RouteContract } from '@baton/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { ApiPath } from './api-versions';
import type { Caller } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { Visit } from './room';
import type { CompiledRoute } from './route-table';

/** What is known when a request comes in. */
export interface Arrival {
  request: Request;
  response: Response;
  startedMs: number;
  method: string;
  api: ApiPath;
  query: string;
  address: string;
  /** [name, value, ...] of the answer, whoever gives it. */
  answerHeaders: string[];
}

/** Each step adds what it finds out, and reads what the steps before it have found. */
export class Exchange implements Arrival {
  readonly request: Request;
  readonly response: Response;
  readonly startedMs: number;
  readonly method: string;
  readonly api: ApiPath;
  readonly query: string;
  readonly address: string;
  readonly answerHeaders: string[];
  /** Of the step that finds the route. */
  headers!: RequestHeaders;
  route!: CompiledRoute;
  segments!: readonly string[];
  /** Null until the route is known. */
  contract: RouteContract | null = null;
  /** Of the step that counts the request in. */
  visit!: Visit;
  /** Null: nobody is known to call, or the route asks for nobody. */
  caller: Caller | null = null;
  /** Why the gateway itself has refused. */
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

/** Undefined for what is no request of the API. */
export const exchangeOf = (request: Request): Exchange | undefined => (request as EdgeRequest).exchange;

/** A step for requests of the API. The next one follows when it has returned, or its promise has resolved, unless it answers `false`. */
export function step(work: (exchange: Exchange) => unknown): RequestHandler {
  return (request, _response, next) => {
    const done = work(exchangeOf(request)!);
    if (done instanceof Promise) return done.then(() => next());
    if (done !== false) next();
    return undefined;
  };
}
