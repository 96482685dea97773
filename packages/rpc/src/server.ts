/** Serves generated service definitions over gRPC. */
import { once } from 'node:events';
import { type RpcCaller, reflectionCallers } from '@baton/contracts';
import { AppError, type Log, systemClock } from '@baton/kernel';
import { certifiedServices, type TlsSource } from '@baton/tls';
import type { Caller, HeldLease } from '@baton/trust';
import {
  type Deadline,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type StatusObject,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { type Admission, type Admitted, createAdmission, type RpcGuard } from './admission';
import {
  callStreamDefinition,
  callStreamService,
  createCallStreamServer,
  type StreamCaller,
} from './call-stream';
import type { Answered, Asked } from './calls';
import {
  bufferOf,
  MAX_MESSAGE_BYTES,
  type MethodDefinition,
  methodPath,
  type ObservedCall,
  type RpcHandlers,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
import { toStatus, visibleError } from './error-mapping';
import { createHealthService, type Readiness } from './health';
import type { Shown } from './late-service';
import { decoded } from './passage';
import { addReflection } from './reflection';
import { leaseOf, tokenOf } from './shown';
import { serverCredentials } from './tls-credentials';
import { traceparentOf, withServerSpan } from './tracing';

export interface RpcServer {
  serve<Def extends ServiceDefinition>(definition: Def, handlers: RpcHandlers<Def>): void;
  /** Listens on a TCP port; port 0 takes a free one. Resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Listens on a Unix socket, for local processes that may open the file; without TLS, which it does not need. */
  listenAt(path: string): Promise<void>;
  /** Shuts down: health becomes NOT_SERVING, running calls end (bounded by `graceMs`, default 10 s), then the port is closed. */
  close(graceMs?: number): Promise<void>;
}

export interface RpcServerOptions {
  log: Log;
  /** When given, only calls that the table of callers allows are accepted. */
  guard?: RpcGuard;
  /** Our certificate; callers must show a certificate of the same CA. Absent: no TLS. */
  tls?: TlsSource | undefined;
  observe?: (call: ObservedCall) => void;
  /** The state that the health service reports; absent: ready until `close`. */
  isReady?: Readiness;
}

interface GrpcCall {
  getDeadline(): Deadline;
  on(event: 'cancelled', listener: () => void): unknown;
  readonly cancelled: boolean;
}

/** Returns the caller, by token and certificate. @throws AppError unauthorized_error */
function shownCaller(admission: Admission, hasTls: boolean, call: Shown): Caller {
  return admission.callerOf(tokenOf(call.metadata), hasTls ? certifiedOf(call) : null);
}

/** Services that the certificate speaks for; none where it is absent or not of our CA. */
const certifiedOf = (call: Pick<Shown, 'getAuthContext'>): string[] =>
  certifiedServices(call.getAuthContext().sslPeerCertificate);

/** The call as the handler sees it; signal and remaining time are made only when the handler asks. */
class ServedContext implements ServedCall {
  #signal: AbortSignal | undefined;
  constructor(
    private readonly call: GrpcCall,
    private readonly admitted: Admitted | null,
  ) {}
  get caller(): Caller | undefined {
    return this.admitted?.caller;
  }
  get lease(): HeldLease | null {
    return this.admitted?.lease ?? null;
  }
  get signal(): AbortSignal {
    if (!this.#signal) {
      const controller = new AbortController();
      if (this.call.cancelled) controller.abort();
      this.call.on('cancelled', () => controller.abort());
      this.#signal = controller.signal;
    }
    return this.#signal;
  }
  get deadlineMs(): number {
    return Math.max(0, Number(this.call.getDeadline()) - systemClock.now());
  }
}

type Method = (request: unknown, call: ServedCall) => unknown;

function grpcMethod(definition: ServiceDefinition, method: MethodDefinition) {
  const { requestType, responseType, requestStream, responseStream } = method;
  return {
    path: methodPath(definition, method),
    requestStream,
    responseStream,
    requestSerialize: (value: unknown) => bufferOf(requestType.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => requestType.decode(bytes),
    responseSerialize: (value: unknown) => bufferOf(responseType.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => responseType.decode(bytes),
  };
}

interface MethodContext extends RpcServerOptions {
  path: string;
  admission: Admission | null;
}

/** @throws AppError */
function admitted({ admission, path, tls }: MethodContext, call: Shown, request: unknown): Admitted | null {
  if (!admission) return null;
  const caller = shownCaller(admission, tls !== undefined, call);
  return admission.admit(path, caller, leaseOf(call.metadata), request);
}

/** Runs the handler and returns its response. @throws AppError as the caller may see it. */
async function served(
  o: MethodContext,
  method: Method,
  request: unknown,
  call: ServedCall,
  traceparent: string | undefined,
): Promise<unknown> {
  const startedMs = systemClock.monotonic();
  let code = 'ok';
  try {
    return await withServerSpan(traceparent, o.path, async () => method(request, call));
  } catch (error) {
    const known = visibleError(error, o.path, o.log);
    code = known.code;
    throw known;
  } finally {
    o.observe?.({ method: o.path, code, durationMs: systemClock.monotonic() - startedMs });
  }
}

function unary(o: MethodContext, method: Method): handleUnaryCall<unknown, unknown> {
  return (call, done) => {
    let context: ServedContext;
    try {
      context = new ServedContext(call, admitted(o, call, call.request));
    } catch (refusal) {
      return done(toStatus(refusal as AppError));
    }
    served(o, method, call.request, context, traceparentOf(call.metadata)).then(
      (response) => done(null, response),
      (known: AppError) => done(toStatus(known)),
    );
  };
}

/** The same method for calls that arrive over a call stream. */
type Streamed = (asked: Asked<Uint8Array>, call: ServedCall, caller: Caller | null) => Promise<Uint8Array>;

function streamed(o: MethodContext, definition: MethodDefinition, method: Method): Streamed {
  const { responseType } = definition;
  return async ({ body, traceparent, lease }, call, caller) => {
    const answer = async (bytes: unknown): Promise<unknown> => {
      const request = decoded(definition, o.path, bytes as Uint8Array);
      if (caller && o.admission) admitInto(call, o.admission.admit(o.path, caller, lease, request));
      return await method(request, call);
    };
    const response = await served(o, answer, body, call, traceparent);
    const bytes = responseType.encode(response).finish();
    if (bytes.length > MAX_ANSWER_BYTES)
      throw new AppError('payload_too_large_error', `${o.path}: the answer has ${bytes.length} bytes`);
    return bytes;
  };
}

/** How long a forced shutdown may take. */
const FORCED_MS = 1_000;
/** Writes the caller and lease of an admitted call into the call object that the handler gets. */
function admitInto(call: ServedCall, { caller, lease }: Admitted): void {
  Object.assign(call, { caller, lease });
}

/** Largest response over a call stream: its message has some fields around the response. */
const MAX_ANSWER_BYTES = MAX_MESSAGE_BYTES - 1024;

function serverStream(o: MethodContext, method: Method): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    let context: ServedContext;
    try {
      context = new ServedContext(call, admitted(o, call, call.request));
    } catch (refusal) {
      return void call.emit('error', toStatus(refusal as AppError));
    }
    const { signal } = context;
    const run = async (): Promise<void> => {
      for await (const message of method(call.request, context) as AsyncIterable<unknown>) {
        if (signal.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal });
      }
      call.end();
    };
    withServerSpan(traceparentOf(call.metadata), o.path, run).catch((error) => {
      if (!signal.aborted) call.emit('error', toStatus(visibleError(error, o.path, o.log)));
    });
  };
}

function bind(definition: ServiceDefinition, handlers: Record<string, Method>, o: BindOptions) {
  const methods: Record<string, ReturnType<typeof grpcMethod>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(definition.methods)) {
    const handler = handlers[name];
    if (!handler) throw new Error(`${definition.fullName}.${name} has no handler`);
    if (method.requestStream)
      throw new Error(`${definition.fullName}.${name}: client streams are not supported`);
    const context = { ...o, path: methodPath(definition, method) };
    methods[name] = grpcMethod(definition, method);
    implementation[name] = method.responseStream ? serverStream(context, handler) : unary(context, handler);
    if (!method.responseStream) o.streamed.set(context.path, streamed(context, method, handler));
  }
  return { methods, implementation };
}

interface BindOptions extends Omit<MethodContext, 'path'> {
  streamed: Map<string, Streamed>;
}

/**
 * The refusal of a stream, or null. A caller without a token is refused, because it can ask nothing by a stream. Other callers are
 * refused unless the stream `isOpenTo` them.
 */
function refusalOf(
  admission: Admission | null,
  hasTls: boolean,
  call: Shown,
  isOpenTo: (name: RpcCaller) => boolean = () => true,
): Partial<StatusObject> | null {
  if (!admission) return null;
  try {
    const { name } = shownCaller(admission, hasTls, call);
    if (name === 'newcomer')
      return { code: status.UNAUTHENTICATED, details: 'the caller shows no token', metadata: new Metadata() };
    if (isOpenTo(name)) return null;
    return { code: status.PERMISSION_DENIED, details: `not open to ${name}`, metadata: new Metadata() };
  } catch (error) {
    return toStatus(error as AppError);
  }
}

const bindTo = (server: Server, address: string, tls: TlsSource | undefined): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, serverCredentials(tls), (error, port) =>
      error ? reject(notListening(address, error)) : resolve(port),
    );
  });

/** Shuts `server` down when its calls have ended, or after `graceMs`. */
function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(force);
      resolve();
    };
    const force = setTimeout(() => {
      server.forceShutdown();
      // A connection in the middle of its handshake is no session yet: nothing can end it, and nobody waits for it.
      setTimeout(done, FORCED_MS).unref();
    }, graceMs);
    server.tryShutdown(done);
  });
}

/** A gRPC server with health service, reflection and call streams; handlers are added by `serve` before `listen`. */
export function createRpcServer(o: RpcServerOptions): RpcServer {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  const health = createHealthService(o);
  health.addTo(server);
  const admission = o.guard ? createAdmission(o.guard, o.log) : null;
  const methods = new Map<string, Streamed>();
  const answer = async (
    asked: Asked<Uint8Array>,
    call: ServedCall,
    { token, certified }: StreamCaller,
  ): Promise<Answered<Uint8Array>> => {
    try {
      const caller = admission ? admission.callerOf(token, certified) : null;
      const method = methods.get(asked.path);
      if (!method) throw new AppError('service_unavailable_error', `${asked.path}: not served here`);
      return { call: asked.call, body: await method(asked, call, caller) };
    } catch (error) {
      // An error that a handler threw is logged already.
      const known = error instanceof AppError ? error : visibleError(error, asked.path, o.log);
      return { call: asked.call, error: known };
    }
  };
  const hasTls = o.tls !== undefined;
  const callStreams = createCallStreamServer({
    refusalOf: (call) => refusalOf(admission, hasTls, call),
    certifiedOf: hasTls ? certifiedOf : () => null,
    answer,
  });
  server.addService(callStreamDefinition, { open: callStreams.handler });
  const served: string[] = [callStreamService];
  addReflection(server, {
    served: () => served,
    refusalOf: (call) => refusalOf(admission, hasTls, call, (name) => reflectionCallers.includes(name)),
  });
  return {
    serve(definition, handlers) {
      served.push(definition.fullName);
      const options = { ...o, admission, streamed: methods };
      const bound = bind(definition, handlers as unknown as Record<string, Method>, options);
      server.addService(bound.methods, bound.implementation);
    },
    listen: (host, port) => bindTo(server, `${host}:${port}`, o.tls),
    listenAt: async (path) => void (await bindTo(server, `unix:${path}`, undefined)),
    close(graceMs = 10_000) {
      health.leave();
      callStreams.leave();
      return shutDown(server, graceMs);
    },
  };
}

function notListening(address: string, cause: Error): AppError {
  return new AppError(
    'service_unavailable_error',
    `rpc cannot listen on ${address}: ${cause.message}`,
    {},
    { cause },
  );
}
