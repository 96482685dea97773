/** A client of the API, typed by its route contracts. Works in Node and in browsers. */
import type { RouteContract } from '@baton/contracts';
import { type EventOptions, readEvents, type ServerEvent } from './event-reader';
import { type AnswerOf, contractOf, type ItemOf, type OperationArgs, type OperationId } from './operations';
import {
  type AnyArgs,
  type ArgsTuple,
  type CallArgs,
  type Query,
  type ResponseOf,
  urlOf,
} from './request-parts';
import { type ClientOptions, createSender, type Exchange } from './transport';

export type UploadContent =
  | Blob
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | FormData;

export interface Download {
  body: ReadableStream<Uint8Array>;
  filename: string | null;
  /** Length in bytes, when the server sent it. */
  length: number | null;
  contentType: string;
}

/** A client whose operations are named by their ids in the OpenAPI document. */
export interface OperationClient {
  /** Makes one JSON call; GETs and calls with an idempotency key are retried when the connection breaks. @throws ApiError */
  call<const Id extends OperationId>(
    operation: Id,
    ...args: ArgsTuple<OperationArgs<Id>>
  ): Promise<AnswerOf<Id>>;
  /** Sends an archive; a stream (for example fs.createReadStream) is not held in memory. @throws ApiError */
  upload<const Id extends OperationId>(
    operation: Id,
    args: Omit<OperationArgs<Id>, 'body'> & Upload,
  ): Promise<AnswerOf<Id>>;
  /** @throws ApiError */
  download<const Id extends OperationId>(
    operation: Id,
    ...args: ArgsTuple<OperationArgs<Id>>
  ): Promise<Download>;
  /** Yields every item of a list, page by page. @throws ApiError */
  all<const Id extends OperationId>(
    operation: Id,
    ...args: ArgsTuple<OperationArgs<Id> & { pageSize?: number }>
  ): AsyncGenerator<ItemOf<Id>>;
  /** Yields server-sent events; reconnects by itself after a lost connection. @throws ApiError */
  events(operation: OperationId, query: Query, o?: StreamOptions): AsyncGenerator<ServerEvent>;
}

/** The same calls with route contracts in place of ids. */
interface ContractClient {
  call<const C extends RouteContract>(route: C, ...args: ArgsTuple<CallArgs<C>>): Promise<ResponseOf<C>>;
  upload<const C extends RouteContract>(
    route: C,
    args: Omit<CallArgs<C>, 'body'> & Upload,
  ): Promise<ResponseOf<C>>;
  download<const C extends RouteContract>(route: C, ...args: ArgsTuple<CallArgs<C>>): Promise<Download>;
  all<const C extends RouteContract>(
    route: C,
    ...args: ArgsTuple<CallArgs<C> & { pageSize?: number }>
  ): AsyncGenerator<ResponseOf<C> extends { items: (infer T)[] } ? T : any>;
  events(route: RouteContract, query: Query, o?: StreamOptions): AsyncGenerator<ServerEvent>;
}

export type Client = OperationClient & ContractClient;

type StreamOptions = EventOptions & { params?: Record<string, string> };

interface Upload {
  content?: UploadContent;
  contentType?: string;
}

const TIMEOUT_MS = 300_000;
const PAGE_SIZE = 1000;

async function jsonOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  if (text === '') return undefined;
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
}

function filenameOf(disposition: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="?([^";]+)"?/i.exec(disposition ?? '')?.[1] ?? null;
}

function bodyOf(content: UploadContent | undefined): RequestInit['body'] {
  if (content === undefined) return undefined;
  const isStreamed =
    typeof content === 'object' && Symbol.asyncIterator in content && !(content instanceof ReadableStream);
  if (!isStreamed) return content as RequestInit['body'];
  const iterator = (content as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

function exchangeOf(o: ClientOptions, operation: RouteContract | string, args: AnyArgs): Exchange {
  const route = contractOf(operation);
  const headers: Record<string, string> = {};
  if (args.body !== undefined) headers['content-type'] = 'application/json';
  if (args.idempotencyKey !== undefined) headers['idempotency-key'] = args.idempotencyKey;
  return {
    method: route.method,
    url: urlOf(o.baseUrl, route, args),
    headers,
    body: args.body === undefined ? undefined : JSON.stringify(args.body),
    tenant: args.tenant,
    signal: args.signal,
    timeoutMs: args.timeoutMs ?? TIMEOUT_MS,
    isRepeatable: route.method === 'GET' || args.idempotencyKey !== undefined,
  };
}

/** Creates a client of one manager, for one user. */
export function createClient(o: ClientOptions): Client {
  const send = createSender(o);
  const call = async (route: RouteContract | string, args: AnyArgs = {}): Promise<any> =>
    jsonOf(await send(exchangeOf(o, route, args)));

  async function* all(
    route: RouteContract | string,
    { pageSize = PAGE_SIZE, ...args }: AnyArgs & { pageSize?: number } = {},
  ): AsyncGenerator<any> {
    for (let offset = 0; ; ) {
      const page = await call(route, { ...args, query: { ...args.query, _size: pageSize, _offset: offset } });
      yield* page.items;
      offset += page.items.length;
      if (page.items.length === 0 || offset >= page.metadata.pagination.total) return;
    }
  }
  const loose = {
    call,
    all,
    async upload(
      route: RouteContract | string,
      args: AnyArgs & { content?: UploadContent; contentType?: string },
    ) {
      const { content, contentType, ...rest } = args;
      const exchange = exchangeOf(o, route, rest);
      if (!(content instanceof FormData))
        exchange.headers['content-type'] = contentType ?? 'application/octet-stream';
      // A stream can be read only once.
      const isRepeatable =
        exchange.isRepeatable &&
        (content === undefined || content instanceof Blob || content instanceof Uint8Array);
      return jsonOf(await send({ ...exchange, body: bodyOf(content), isRepeatable }));
    },
    async download(route: RouteContract | string, args: AnyArgs = {}): Promise<Download> {
      const response = await send(exchangeOf(o, route, args));
      const length = response.headers.get('content-length');
      return {
        body: response.body ?? new ReadableStream(),
        filename: filenameOf(response.headers.get('content-disposition')),
        length: length === null ? null : Number(length),
        contentType: response.headers.get('content-type') ?? '',
      };
    },
    events(route: RouteContract | string, query: Query, options: StreamOptions = {}) {
      const exchange = exchangeOf(o, route, { query, params: options.params });
      const open = (headers: Record<string, string>, signal: AbortSignal): Promise<Response> =>
        // A stream has no time limit; only its silence is limited.
        send({
          ...exchange,
          headers: { accept: 'text/event-stream', ...headers },
          signal,
          timeoutMs: 2 ** 31 - 1,
          isRepeatable: false,
        });
      return readEvents(open, options);
    },
  };
  return loose as unknown as Client;
}
