/** gRPC clients: mandatory deadline, retries while a service is away, errors as AppErrors. */
import type { ServiceName } from '@baton/contracts';
import { AppError, backoffMs, isOn, type Log, systemClock } from '@baton/kernel';
import type { TlsSource } from '@baton/tls';
import type { CallerCredential } from '@baton/trust';
import {
  Client,
  type ClientReadableStream,
  type CallOptions as GrpcOptions,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { isForNewcomers } from './admission';
import { type CallStream, createCallStream, MAX_STREAMED_BYTES } from './call-stream';
import { errorOf } from './calls';
import {
  bufferOf,
  type CallOptions,
  DEFAULT_DEADLINE_MS,
  MAX_MESSAGE_BYTES,
  type MethodDefinition,
  methodPath,
  type RpcClient,
  type RpcConnector,
  type ServiceDefinition,
} from './definition';
import { fromStatus, isUnreachable } from './error-mapping';
import { currentLease, type HeldProof, leaseProof } from './lease-scope';
import { type PassedCall, type RpcPassage, tokenShown } from './passage';
import { pause } from './pause';
import { LEASE_HEADER, TOKEN_HEADER } from './shown';
import { channelCredentials } from './tls-credentials';
import { injectTrace, isTracing, traceHeader, withServerSpan } from './tracing';
import { assertNotInTransaction } from './tx-guard';

export interface GrpcConnectorOptions {
  /** host:port of each service that is called. */
  addresses: Partial<Record<ServiceName, string>>;
  log: Log;
  /** Credential of this process; without one it can only call methods that are open to newcomers. */
  credential?: CallerCredential;
  /** Our certificate, shown to services; their certificates and names are checked. Absent: no TLS. */
  tls?: TlsSource | undefined;
}

/** Pause between two attempts to reach a service. */
const retryPause = { firstMs: 30, maxMs: 1000, factor: 2, jitter: 0.3 };

const channelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // We retry ourselves: our retries end with the deadline and are logged.
  'grpc.enable_retries': 0,
};

interface Wired {
  path: string;
  fromPartial(request: unknown): unknown;
  encode(value: unknown): Buffer;
  decode(bytes: Uint8Array): unknown;
}

function wire(definition: ServiceDefinition, method: MethodDefinition): Wired {
  const { requestType, responseType } = method;
  return {
    path: methodPath(definition, method),
    fromPartial: (request) => requestType.fromPartial(request),
    encode: (value) => bufferOf(requestType.encode(value).finish()),
    decode: (bytes) => responseType.decode(bytes),
  };
}

/** Options of a call; `token`: it is made for another caller, whose token this is. */
interface Options extends CallOptions {
  token?: string;
}

interface Channel {
  client: Client;
  stream: CallStream;
  /** `token`: that of another caller, in place of our own. */
  metadata(lease?: HeldProof, token?: string): Metadata;
  /** Resolves when there is a token to show; null: there is one. */
  unready(): Promise<void> | null;
  log: Log;
}

function once(
  channel: Channel,
  method: Wired,
  message: unknown,
  options: GrpcOptions,
  { signal, lease, token }: Options,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = channel.client.makeUnaryRequest(
      method.path,
      method.encode,
      method.decode,
      message,
      channel.metadata(lease, token),
      options,
      (error, response) => {
        signal?.removeEventListener('abort', cancel);
        if (error) reject(error);
        else resolve(response);
      },
    );
    const cancel = (): void => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** Waits before the next attempt to reach a service. @throws AppError once the deadline is nearer than the pause. */
async function beforeRetry(
  channel: Channel,
  method: Wired,
  error: ServiceError,
  attempt: number,
  deadline: number,
  signal?: AbortSignal,
): Promise<void> {
  const waitMs = backoffMs(attempt, retryPause);
  if (!isUnreachable(error) || systemClock.now() + waitMs >= deadline) throw fromStatus(error, method.path);
  channel.log.debug({ method: method.path, attempt, reason: error.details }, 'rpc retried');
  await pause(waitMs, signal);
}

async function callUnary(
  channel: Channel,
  method: Wired,
  request: unknown,
  o: Options = {},
): Promise<unknown> {
  assertNotInTransaction(method.path);
  o.signal?.throwIfAborted();
  const message = method.fromPartial(request);
  const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const deadline = systemClock.now() + deadlineMs;
  const isNew = isForNewcomers(method.path);
  if (!isNew && !o.token) await untilReady(channel, method, deadline, o.signal);
  const streamed = isNew ? null : await callByStream(channel, method, message, deadlineMs, o);
  if (streamed) return streamed.response;
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await once(channel, method, message, { deadline }, o);
      if (!isNew && isOn('call-streams')) channel.stream.open();
      return response;
    } catch (error) {
      o.signal?.throwIfAborted();
      await beforeRetry(channel, method, error as ServiceError, attempt, deadline, o.signal);
    }
  }
}

/** Waits for the token: a worker has none before it is registered. @throws AppError at the deadline, or the signal's reason */
async function untilReady(
  channel: Channel,
  { path }: Wired,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const unready = channel.unready();
  if (!unready) return;
  const late = pause(Math.max(1, deadline - systemClock.now()), signal).then(() => {
    throw new AppError('service_unavailable_error', `${path}: this worker is not registered yet`);
  });
  await Promise.race([unready, late]);
}

/** Calls over the call stream. Null: the stream was not used, or was lost before the answer; every method may be called again. */
async function callByStream(
  { stream }: Channel,
  method: Wired,
  message: unknown,
  deadlineMs: number,
  { signal, lease: named, token }: Options,
): Promise<{ response: unknown } | null> {
  const { ask } = stream;
  if (!ask) return null;
  const body = method.encode(message);
  if (body.length > MAX_STREAMED_BYTES) return null;
  const lease = leaseProof(named);
  const answered = await ask(
    {
      path: method.path,
      body,
      deadlineMs,
      ...traceHeader(),
      ...(lease !== '' && { lease }),
      ...(token && { callerToken: token }),
    },
    signal,
  );
  if (answered?.error) throw errorOf(answered.error);
  return answered ? { response: method.decode(answered.body!) } : null;
}

/** Binds the stream to the current lease of the caller, whichever context reads the answer. */
function callStream(
  channel: Channel,
  method: Wired,
  request: unknown,
  o: CallOptions = {},
): AsyncGenerator<unknown> {
  return streamFrom(channel, method, request, { ...o, lease: o.lease ?? currentLease() });
}

async function* streamFrom(
  channel: Channel,
  method: Wired,
  request: unknown,
  o: Options,
): AsyncGenerator<unknown> {
  assertNotInTransaction(method.path);
  o.signal?.throwIfAborted();
  const message = method.fromPartial(request);
  const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
  if (!o.token) await untilReady(channel, method, deadline, o.signal);
  let hasStarted = false;
  for (let attempt = 1; ; attempt++) {
    const stream: ClientReadableStream<unknown> = channel.client.makeServerStreamRequest(
      method.path,
      method.encode,
      method.decode,
      message,
      channel.metadata(o.lease, o.token),
      { deadline },
    );
    const cancel = (): void => stream.cancel();
    o.signal?.addEventListener('abort', cancel, { once: true });
    try {
      for await (const item of stream) {
        hasStarted = true;
        yield item;
      }
      return;
    } catch (error) {
      o.signal?.throwIfAborted();
      if (hasStarted) throw fromStatus(error as ServiceError, method.path);
      await beforeRetry(channel, method, error as ServiceError, attempt, deadline, o.signal);
    } finally {
      o.signal?.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }
}

/** Returns the headers of a call for another caller. */
function headersOf(token: string, lease: string): Metadata {
  const headers = new Metadata();
  headers.set(TOKEN_HEADER, token);
  if (lease !== '') headers.set(LEASE_HEADER, lease);
  injectTrace(headers);
  return headers;
}

/** Returns the headers of a call: the same object as long as nothing in it changes. */
function metadataOf(token: () => string): Channel['metadata'] {
  let shown = new Metadata();
  let last = '';
  return (held, ofOther) => {
    if (ofOther !== undefined) return headersOf(ofOther, leaseProof(held));
    const now = token();
    if (now !== last) {
      last = now;
      shown = new Metadata();
      shown.set(TOKEN_HEADER, now);
    }
    const lease = leaseProof(held);
    if (lease === '' && !isTracing()) return shown;
    const own = shown.clone();
    if (lease !== '') own.set(LEASE_HEADER, lease);
    injectTrace(own);
    return own;
  };
}

const asIs = (bytes: unknown): Buffer => bufferOf(bytes as Uint8Array);

/** The method for messages that are bytes already. */
const rawWire = ({ definition, method }: PassedCall): Wired => ({
  path: methodPath(definition, method),
  fromPartial: (request) => request,
  encode: asIs,
  decode: asIs,
});

async function optionsOf(call: PassedCall): Promise<Options> {
  const { deadlineMs, signal, lease } = call;
  return { deadlineMs, signal, lease: { proof: lease }, token: await tokenShown(call) };
}

/** Passes calls of others on over the channels of this connector. */
const passageOver = (channelOf: (service: ServiceName) => Channel): RpcPassage => ({
  async unary(call) {
    const wired = rawWire(call);
    const serve = async (): Promise<unknown> =>
      callUnary(channelOf(call.service), wired, call.body, await optionsOf(call));
    return (await withServerSpan(call.traceparent, wired.path, serve)) as Uint8Array;
  },
  async *stream(call) {
    const options = await optionsOf(call);
    const parts = streamFrom(channelOf(call.service), rawWire(call), call.body, options);
    yield* parts as AsyncGenerator<Uint8Array>;
  },
});

export interface GrpcConnector extends RpcConnector {
  /** For calls of others. */
  passage: RpcPassage;
  close(): void;
}

/** Creates clients that connect lazily: a service may be away when its callers start. */
export function createGrpcConnector(o: GrpcConnectorOptions): GrpcConnector {
  const channels = new Map<ServiceName, Channel>();
  const { credential } = o;
  const tokenOf = (service: ServiceName): string => credential?.tokenFor(service) ?? '';
  const channelOf = (service: ServiceName): Channel => {
    const known = channels.get(service);
    if (known) return known;
    const address = o.addresses[service];
    if (!address)
      throw new AppError('service_unavailable_error', `No address of service ${service} is configured`);
    const client = new Client(address, channelCredentials(o.tls), channelOptions);
    const token = (): string => tokenOf(service);
    const metadata = metadataOf(token);
    const stream = createCallStream(client, metadata, token, o.log);
    const unready = (): Promise<void> | null => (credential && token() === '' ? credential.ready() : null);
    const channel = { client, stream, metadata, unready, log: o.log };
    channels.set(service, channel);
    return channel;
  };
  return {
    client<Def extends ServiceDefinition>(definition: Def, service: ServiceName): RpcClient<Def> {
      const channel = channelOf(service);
      const methods = Object.entries(definition.methods).map(([name, method]) => {
        const wired = wire(definition, method);
        const call = method.responseStream ? callStream : callUnary;
        return [name, (request: unknown, options?: CallOptions) => call(channel, wired, request, options)];
      });
      return Object.fromEntries(methods) as RpcClient<Def>;
    },
    passage: passageOver(channelOf),
    close() {
      for (const { client, stream } of channels.values()) {
        stream.close();
        client.close();
      }
      channels.clear();
    },
  };
}
