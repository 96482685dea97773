import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '@baton/kernel';
import { createAuthority } from '@baton/tls/authority';
import { stringify } from 'yaml';
import { addressOf } from './address';
import { answerMeta } from './answer-meta';
import { answerResource, type Call } from './answer-resource';
import { ApiError } from './api-error';
import { settle } from './controllers';
import type { FateRule, PodFate } from './pods';
import { seed } from './seed';
import { Store } from './store';

export interface KubeDoubleOptions {
  /** Plain HTTP. kubectl and helm send no token over it. */
  isPlain?: boolean;
  /** Port; 0: a free one. */
  port?: number;
  /** The token that clients must send; default: a random one. */
  token?: string;
}

/** What a client asked. */
export interface SeenRequest {
  method: string;
  path: string;
  query: string;
  userAgent: string;
  contentType: string;
}

/** A stand-in for the API server of Kubernetes, with its controllers. */
export interface KubeDouble {
  readonly url: string;
  /** PEM of the authority of its certificate, and of a certificate that it takes instead of the token. */
  readonly tls: { ca: string; cert: string; key: string };
  readonly token: string;
  readonly store: Store;
  readonly requests: SeenRequest[];
  /** Text of a configuration file for clients. */
  kubeconfig(): string;
  /** From now on pods with such images come to this end. */
  fate(image: RegExp, fate: PodFate): void;
  /** Stops the controllers: nothing becomes ready and nothing ends until `release`. */
  hold(): void;
  release(): void;
  /** Sends a request, as a client with all rights. @throws Error for an answer that is no success */
  send(method: string, path: string, body?: object, contentType?: string): Promise<unknown>;
  /** Answers requests before the API does; true: it has answered. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  stop(): Promise<void>;
}

const MAX_BODY = 3 * 1024 * 1024;

/** Starts the stand-in on 127.0.0.1. */
export async function startKubeDouble(options: KubeDoubleOptions = {}): Promise<KubeDouble> {
  const store = new Store();
  const rules: FateRule[] = [];
  const requests: SeenRequest[] = [];
  const token = options.token ?? randomBytes(24).toString('base64url');
  let isHeld = false;
  const work = (): void => {
    if (!isHeld) settle(store, rules);
  };
  seed(store);
  work();
  const double = { intercept: null } as Pick<KubeDouble, 'intercept'>;
  const listener: RequestListener = (request, response) =>
    void answer(request, response, { store, token, requests, work, double });
  const authority = await createAuthority('kube-double', systemClock.now());
  const own = await authority.issue({ names: ['127.0.0.1', 'localhost'], nowMs: systemClock.now() });
  const client = await authority.issue({ names: ['client'], nowMs: systemClock.now() });
  const tls = { ca: authority.cert, ...client };
  const server = options.isPlain
    ? createServer(listener)
    : createTlsServer({ ...own, ca: authority.cert, requestCert: true, rejectUnauthorized: false }, listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `${options.isPlain ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(double, {
    url,
    token,
    tls,
    store,
    requests,
    send: (method: string, path: string, body?: object, contentType = 'application/json') =>
      sendAs(url + path, { method, token, ca: tls.ca, contentType }, body),
    kubeconfig: () => kubeconfigOf(url, token, tls.ca),
    fate: (image: RegExp, fate: PodFate) => {
      rules.unshift({ image, fate });
      work();
    },
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      work();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

interface SendOptions {
  method: string;
  token: string;
  ca: string;
  contentType: string;
}

function sendAs(
  url: string,
  { method, token, ca, contentType }: SendOptions,
  body?: object,
): Promise<unknown> {
  const isPlain = url.startsWith('http:');
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
  return new Promise((resolve, reject) => {
    const call = (isPlain ? plainRequest : tlsRequest)(url, { method, headers, ...(isPlain ? {} : { ca }) });
    call.on('error', reject);
    call.on('response', (response) => {
      bodyOf(response).then((bytes) => {
        const text = bytes.toString('utf8');
        if (response.statusCode! >= 300)
          reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`));
        else resolve(JSON.parse(text));
      }, reject);
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

interface Parts {
  store: Store;
  token: string;
  requests: SeenRequest[];
  work(): void;
  double: Pick<KubeDouble, 'intercept'>;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const { store, token, requests, work, double } = parts;
  try {
    const url = new URL(request.url!, 'http://double');
    const call: Call = {
      method: request.method!,
      url,
      accept: request.headers.accept ?? '',
      contentType: request.headers['content-type'] ?? '',
      userAgent: request.headers['user-agent'] ?? '',
      body: Buffer.alloc(0),
    };
    requests.push({
      method: call.method,
      path: url.pathname,
      query: url.search,
      userAgent: call.userAgent,
      contentType: call.contentType,
    });
    if (double.intercept?.(request, response) === true) return;
    call.body = await bodyOf(request);
    requireToken(request, token);
    const result = answerTo(store, call, response);
    if (result === null) return;
    send(response, result.code, result.body);
    if (call.method !== 'GET') setImmediate(work);
  } catch (error) {
    const refusal =
      error instanceof ApiError ? error : new ApiError(500, 'InternalError', String((error as Error).stack));
    send(response, refusal.code, refusal.body());
  }
}

function answerTo(
  store: Store,
  call: Call,
  response: ServerResponse,
): { code: number; body: unknown } | null {
  const meta = answerMeta(store, call);
  if (meta !== null) return meta;
  const address = addressOf(call.url.pathname);
  const type = address && store.resources.find(address.group, address.version, address.resource);
  if (!address || !type)
    throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
  return answerResource(store, type, address, call, response);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY) throw new ApiError(413, 'RequestEntityTooLarge', `limit is ${MAX_BODY}`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Tokens of service accounts and certificates are taken as well: nobody has fewer rights here. */
function requireToken(request: IncomingMessage, token: string): void {
  const given = request.headers.authorization ?? '';
  if (given === `Bearer ${token}` || /^Bearer double\..+\.token$/.test(given)) return;
  if ((request.socket as Partial<TLSSocket>).authorized === true) return;
  throw new ApiError(401, 'Unauthorized', 'Unauthorized');
}

function send(response: ServerResponse, code: number, body: unknown): void {
  if (response.headersSent) return void response.end();
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const type = typeOf(body);
  response.writeHead(code, { 'content-type': type });
  response.end(isRaw ? body : `${JSON.stringify(body)}\n`);
}

function typeOf(body: unknown): string {
  if (Buffer.isBuffer(body)) return 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  if (typeof body === 'string') return 'text/plain';
  const { kind } = body as { kind?: unknown };
  // Clients tell the form of the answer by its type.
  return kind === 'APIGroupDiscoveryList'
    ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    : 'application/json';
}

function kubeconfigOf(server: string, token: string, ca: string): string {
  const authority = { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'double', cluster: { server, ...authority } }],
    users: [{ name: 'double', user: { token } }],
    contexts: [{ name: 'double', context: { cluster: 'double', user: 'double' } }],
    'current-context': 'double',
  });
}
