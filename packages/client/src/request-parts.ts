/** Builds URL and headers from a route contract and its arguments. */
import type { ApiVersion, RouteContract } from '@baton/contracts';
import type { z } from 'zod';

export type QueryValue = string | number | boolean | readonly (string | number)[] | null | undefined;
export type Query = Record<string, QueryValue>;

type BodyOf<C extends RouteContract> = C extends { body: infer B }
  ? B extends z.ZodType
    ? z.input<B>
    : unknown
  : undefined;
/** The response body of a route. */
export type ResponseOf<C extends RouteContract> = C extends { status: 204 | 303 }
  ? undefined
  : C extends { response: infer R }
    ? R extends z.ZodType
      ? z.output<R>
      : any
    : any;

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : Path extends `${string}/*`
      ? '*'
      : never;

export interface CommonArgs {
  query?: Query;
  /** Sent as Idempotency-Key. It makes a write safe to repeat, so the write is retried when the connection breaks. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** Default 300 s. */
  timeoutMs?: number;
  version?: ApiVersion;
  /** Used instead of the client's tenant. */
  tenant?: string;
}

/** Arguments of a call: `params` where the path has some, `body` where the contract has one. */
export type CallArgs<C extends RouteContract> = CommonArgs &
  ([ParamNames<C['path']>] extends [never]
    ? { params?: undefined }
    : { params: { [N in ParamNames<C['path']>]: string } }) &
  (C extends { body: z.ZodType }
    ? C extends { isBodyOptional: true }
      ? { body?: BodyOf<C> }
      : { body: BodyOf<C> }
    : { body?: undefined });

/** `call(route)` needs no second argument when nothing in it is required. */
export type ArgsTuple<A> = object extends A ? [args?: A] : [args: A];

/** The untyped form of the arguments, used inside the client. */
export interface AnyArgs extends CommonArgs {
  params?: Record<string, string>;
  body?: unknown;
}

function encodePath(path: string, params: Record<string, string>): string {
  return path
    .split('/')
    .map((part) => {
      // The OpenAPI document calls this parameter `rest`.
      if (part === '*')
        return (params['*'] ?? params.rest ?? '').split('/').map(encodeURIComponent).join('/');
      if (!part.startsWith(':')) return part;
      const value = params[part.slice(1)];
      if (value === undefined || value === '')
        throw new TypeError(`path parameter ${part.slice(1)} is missing`);
      return encodeURIComponent(value);
    })
    .join('/');
}

/** Lists become repeated parameters, absent values are left out. */
function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

export function urlOf(baseUrl: string, route: RouteContract, args: AnyArgs): string {
  const version = args.version ?? 'v3.1';
  return `${baseUrl.replace(/\/$/, '')}/api/${version}${encodePath(route.path, args.params ?? {})}${queryText(args.query ?? {})}`;
}
