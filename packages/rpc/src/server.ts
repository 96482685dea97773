/** Serves generated definitions over gRPC. */
import { once } from 'node:events';
import { type Log, type Secret, systemClock } from '@baton/kernel';
import {
  type Deadline,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  MAX_MESSAGE_BYTES,
  type MethodDefinition,
  methodPath,
  type ObservedCall,
  type RpcHandlers,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
import { toStatus, visibleError } from './error-mapping';
import { createHealth, healthDefinition } from './health';
import { hasKey, rpcKey } from './rpc-key';
import { withServerSpan } from './tracing';

export interface RpcServer {
  serve<Def extends ServiceDefinition>(definition: Def, handlers: RpcHandlers<Def>): void;
  /** Port 0 takes a free one; resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Health becomes NOT_SERVING, running calls end (bounded by `graceMs`, default 10 s), then the port is closed. */
  close(graceMs?: number): Promise<void>;
}

export interface RpcServerOptions {
  log: Log;
  /** When given, calls without the key derived from it are refused. */
  internalKey?: Secret;
  observe?: (call: ObservedCall) => void;
}

interface GrpcCall {
  getDeadline(): Deadline;
  on(event: 'cancelled', listener: () => void): unknown;
  readonly cancelled: boolean;
}

/** Signal and remaining time, made only when the handler asks. */
class ServedContext implements ServedCall {
  #signal: AbortSignal | undefined;
  constructor(private readonly call: GrpcCall) {}
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

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function grpcMethod(definition: ServiceDefinition, method: MethodDefinition) {
  const { requestType, responseType, requestStream, responseStream } = method;
  return {
    path: methodPath(definition, method),
    requestStream,
    responseStream,
    requestSerialize: (value: unknown) => toBuffer(requestType.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => requestType.decode(bytes),
    responseSerialize: (value: unknown) => toBuffer(responseType.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => responseType.decode(bytes),
  };
}

interface MethodContext extends RpcServerOptions {
  path: string;
  key: string | null;
}

const refused = {
  code: status.UNAUTHENTICATED,
  details: 'the caller does not know the internal key',
  metadata: new Metadata(),
};

function unary(o: MethodContext, method: Method): handleUnaryCall<unknown, unknown> {
  return (call, done) => {
    if (o.key !== null && !hasKey(call.metadata, o.key)) return done(refused);
    const startedMs = systemClock.monotonic();
    withServerSpan(call.metadata, o.path, async () => method(call.request, new ServedContext(call))).then(
      (response) => {
        o.observe?.({ method: o.path, code: 'ok', durationMs: systemClock.monotonic() - startedMs });
        done(null, response);
      },
      (error) => {
        const known = visibleError(error, o.path, o.log);
        o.observe?.({ method: o.path, code: known.code, durationMs: systemClock.monotonic() - startedMs });
        done(toStatus(known));
      },
    );
  };
}

function serverStream(o: MethodContext, method: Method): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    if (o.key !== null && !hasKey(call.metadata, o.key)) {
      call.emit('error', refused);
      return;
    }
    const context = new ServedContext(call);
    const { signal } = context;
    const run = async (): Promise<void> => {
      for await (const message of method(call.request, context) as AsyncIterable<unknown>) {
        if (signal.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal });
      }
      call.end();
    };
    withServerSpan(call.metadata, o.path, run).catch((error) => {
      if (!signal.aborted) call.emit('error', toStatus(visibleError(error, o.path, o.log)));
    });
  };
}

function bind(definition: ServiceDefinition, handlers: Record<string, Method>, o: RpcServerOptions) {
  const methods: Record<string, ReturnType<typeof grpcMethod>> = {};
  const implementation: UntypedServiceImplementation = {};
  const key = o.internalKey ? rpcKey(o.internalKey) : null;
  for (const [name, method] of Object.entries(definition.methods)) {
    const handler = handlers[name];
    if (!handler) throw new Error(`${definition.fullName}.${name} has no handler`);
    if (method.requestStream)
      throw new Error(`${definition.fullName}.${name}: client streams are not supported`);
    const context = { ...o, path: methodPath(definition, method), key };
    methods[name] = grpcMethod(definition, method);
    implementation[name] = method.responseStream ? serverStream(context, handler) : unary(context, handler);
  }
  return { methods, implementation };
}

/** A gRPC server with the health service; handlers are added by `serve` before `listen`. */
export function createRpcServer(o: RpcServerOptions): RpcServer {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  const health = createHealth();
  server.addService(healthDefinition, health.implementation);
  return {
    serve(definition, handlers) {
      const { methods, implementation } = bind(definition, handlers as unknown as Record<string, Method>, o);
      server.addService(methods, implementation);
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
          error ? reject(error) : resolve(bound),
        );
      }),
    close(graceMs = 10_000) {
      health.setServing(false);
      return new Promise((resolve) => {
        const force = setTimeout(() => server.forceShutdown(), graceMs);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      });
    },
  };
}
