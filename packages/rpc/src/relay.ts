/**
 * Unary calls between a process and the one that started it, over their channel of messages: less than a sixth of what a gRPC call costs on
 * one machine (below 0.10 ms and 0.10 ms of CPU for both sides a call, against 0.60 and 0.60). Streams, and all calls while there is no
 * channel, go another way.
 */
import type { ServiceName } from '@baton/contracts';
import { AppError, systemClock } from '@baton/kernel';
import {
  type Answered,
  type Asked,
  type AskingEnd,
  answerCalls,
  createAsker,
  errorOf,
  type GivenUp,
} from './calls';
import {
  bufferOf,
  type CallOptions,
  DEFAULT_DEADLINE_MS,
  type MethodDefinition,
  methodPath,
  type RpcClient,
  type RpcConnector,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
import { traceHeader, withServerSpan } from './tracing';
import { assertNotInTransaction } from './tx-guard';

/** One side of the channel; messages are JSON and arrive in order. */
export interface RpcChannel {
  isOpen(): boolean;
  send(message: object): void;
  onMessage(receive: (message: unknown) => void): void;
  onClose(closed: () => void): void;
  close(): void;
}

/** Bytes as base64: there and back, a channel of JSON takes 0.05 ms, one of `v8.serialize` 0.10 ms and a third more CPU. */
type Packed = string;
const pack = (bytes: Uint8Array): Packed => bufferOf(bytes).toString('base64');
const unpack = (text: Packed): Uint8Array => Buffer.from(text, 'base64');

export interface RpcRelay {
  /** What callers at the other end may call; `rpc` of the relay reaches it. */
  serve(service: ServiceName, definition: ServiceDefinition): void;
  attach(channel: RpcChannel): void;
}

type Method = (request: unknown, o: CallOptions) => Promise<unknown>;

/** Services share the channel: their name stands before the path. */
const pathOf = (service: ServiceName, definition: ServiceDefinition, method: MethodDefinition): string =>
  `${service}${methodPath(definition, method)}`;

/** The end that answers: passes calls on to `rpc`, which knows the services. */
export function createRpcRelay(rpc: RpcConnector): RpcRelay {
  const methods = new Map<string, { definition: MethodDefinition; call: Method }>();
  const answerTo = async (asked: Asked<Packed>, call: ServedCall): Promise<Answered<Packed>> => {
    const known = methods.get(asked.path);
    try {
      if (!known) throw new AppError('service_unavailable_error', `${asked.path}: not served here`);
      const request = known.definition.requestType.decode(unpack(asked.body));
      const { deadlineMs } = asked;
      const serve = () => known.call(request, { deadlineMs, signal: call.signal });
      const answer = await withServerSpan(asked.traceparent, asked.path, serve);
      return { call: asked.call, body: pack(known.definition.responseType.encode(answer).finish()) };
    } catch (error) {
      const { code, message, details } = error as AppError;
      return { call: asked.call, error: { code, message, details } };
    }
  };
  return {
    serve(service, definition) {
      const client = rpc.client(definition, service) as Record<string, Method>;
      for (const [name, method] of Object.entries(definition.methods))
        if (!method.responseStream)
          methods.set(pathOf(service, definition, method), { definition: method, call: client[name]! });
    },
    attach(channel) {
      const end = {
        isOpen: channel.isOpen,
        send: channel.send,
        onAsked: (receive: (asked: Asked<Packed>) => void) =>
          channel.onMessage((message) => isAsked(message) && receive(message)),
        onGivenUp: (receive: (givenUp: GivenUp) => void) =>
          channel.onMessage((message) => isGivenUp(message) && receive(message)),
        onClose: channel.onClose,
      };
      answerCalls(end, answerTo);
    },
  };
}

const isCall = (message: unknown): message is { call: number } =>
  typeof (message as { call?: unknown } | null)?.call === 'number';
const isGivenUp = (message: unknown): message is GivenUp =>
  isCall(message) && (message as GivenUp).isGivenUp === true;
const isAsked = (message: unknown): message is Asked<Packed> =>
  isCall(message) && typeof (message as Asked<Packed>).path === 'string';

/**
 * The end that answers keeps the deadline and says why it was missed (no such service, no answer of it); the one that asks
 * waits so much longer for that.
 */
const ANSWER_MS = 1_000;

/** The end that calls. `other`: for streams, and for everything once the channel is closed. */
export function createRelayedRpc(
  channel: RpcChannel,
  other: RpcConnector & { close(): void },
): RpcConnector & { close(): void } {
  const end: AskingEnd<Packed> = {
    isOpen: channel.isOpen,
    send: channel.send,
    onAnswered: (receive) =>
      channel.onMessage((message) => isCall(message) && receive(message as Answered<Packed>)),
    onClose: channel.onClose,
  };
  const ask = createAsker(end, ANSWER_MS);
  const unary = (service: ServiceName, definition: ServiceDefinition, name: string): Method => {
    const method = definition.methods[name]!;
    const path = pathOf(service, definition, method);
    const elsewhere = (other.client(definition, service) as Record<string, Method>)[name]!;
    return async (request, o = {}) => {
      assertNotInTransaction(path);
      o.signal?.throwIfAborted();
      const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
      if (channel.isOpen()) {
        const body = pack(method.requestType.encode(method.requestType.fromPartial(request)).finish());
        const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
        const answer = await ask({ path, body, deadlineMs, ...traceHeader() }, o.signal);
        if (answer?.error) throw errorOf(answer.error);
        if (answer) return method.responseType.decode(unpack(answer.body!));
      }
      return await elsewhere(request, { ...o, deadlineMs: Math.max(1, deadline - systemClock.now()) });
    };
  };
  return {
    client<Def extends ServiceDefinition>(definition: Def, service: ServiceName): RpcClient<Def> {
      const streams = other.client(definition, service) as Record<string, unknown>;
      const methods = Object.entries(definition.methods).map(([name, { responseStream }]) => [
        name,
        responseStream ? streams[name] : unary(service, definition, name),
      ]);
      return Object.fromEntries(methods) as RpcClient<Def>;
    },
    close() {
      channel.close();
      other.close();
    },
  };
}
