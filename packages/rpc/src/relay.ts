/**
 * Unary calls between a process and the one that started it, over their channel of messages: less than a sixth of what gRPC costs on
 * one machine (below 0.10 ms and 0.10 ms of CPU for both sides a call, against 0.60 and 0.60). Streams, and all calls while there is no
 * channel, go another way.
 */
import type { ServiceName } from '@baton/contracts';
import { AppError, type ErrorCode, type ErrorDetails, systemClock } from '@baton/kernel';
import { Metadata } from '@grpc/grpc-js';
import {
  type CallOptions,
  DEFAULT_DEADLINE_MS,
  type MethodDefinition,
  methodPath,
  type RpcClient,
  type RpcConnector,
  type ServiceDefinition,
} from './definition';
import { injectTrace, isTracing, withServerSpan } from './tracing';
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
const pack = (bytes: Uint8Array): Packed =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
const unpack = (text: Packed): Uint8Array => Buffer.from(text, 'base64');

interface Asked {
  rpc: number;
  service: ServiceName;
  path: string;
  body: Packed;
  deadlineMs: number;
  traceparent?: string;
}
interface GivenUp {
  rpc: number;
  isGivenUp: true;
}
interface Answered {
  rpc: number;
  body?: Packed;
  error?: { code: ErrorCode; message: string; details: ErrorDetails };
}

export interface RpcRelay {
  /** What callers at the other end may call; `rpc` of the relay reaches it. */
  serve(service: ServiceName, definition: ServiceDefinition): void;
  attach(channel: RpcChannel): void;
}

type Method = (request: unknown, o: CallOptions) => Promise<unknown>;

/** The end that answers: passes calls on to `rpc`, which knows the services. */
export function createRpcRelay(rpc: RpcConnector): RpcRelay {
  const methods = new Map<string, { definition: MethodDefinition; call: Method }>();
  const answerTo = async (asked: Asked, signal: AbortSignal): Promise<Answered> => {
    const known = methods.get(`${asked.service}${asked.path}`);
    try {
      if (!known) throw new AppError('service_unavailable_error', `${asked.path}: not served here`);
      const request = known.definition.requestType.decode(unpack(asked.body));
      const serve = () => known.call(request, { deadlineMs: asked.deadlineMs, signal });
      const answer = asked.traceparent
        ? await withServerSpan(traceOf(asked.traceparent), asked.path, serve)
        : await serve();
      return { rpc: asked.rpc, body: pack(known.definition.responseType.encode(answer).finish()) };
    } catch (error) {
      const { code, message, details } = error as AppError;
      return { rpc: asked.rpc, error: { code, message, details } };
    }
  };
  return {
    serve(service, definition) {
      const client = rpc.client(definition, service) as Record<string, Method>;
      for (const [name, method] of Object.entries(definition.methods)) {
        if (method.responseStream) continue;
        methods.set(`${service}${methodPath(definition, method)}`, {
          definition: method,
          call: client[name]!,
        });
      }
    },
    attach(channel) {
      const running = new Map<number, AbortController>();
      channel.onMessage((message) => {
        if (isGivenUp(message)) return void running.get(message.rpc)?.abort(new Error('the caller gave up'));
        if (!isAsked(message)) return;
        const control = new AbortController();
        running.set(message.rpc, control);
        void answerTo(message, control.signal).then((answered) => {
          running.delete(message.rpc);
          if (!control.signal.aborted && channel.isOpen()) channel.send(answered);
        });
      });
      channel.onClose(() => {
        for (const control of running.values()) control.abort(new Error('the caller is gone'));
      });
    },
  };
}

function traceOf(traceparent: string): Metadata {
  const metadata = new Metadata();
  metadata.set('traceparent', traceparent);
  return metadata;
}

const isGivenUp = (message: unknown): message is GivenUp =>
  typeof (message as GivenUp | null)?.rpc === 'number' && (message as GivenUp).isGivenUp === true;
const isAsked = (message: unknown): message is Asked =>
  typeof (message as Asked | null)?.rpc === 'number' && typeof (message as Asked).path === 'string';
const isAnswered = (message: unknown): message is Answered =>
  typeof (message as Answered | null)?.rpc === 'number';

interface Waiting {
  answered(answer: Answered): void;
  /** The channel is closed: whether it was handled is not known. */
  lost(): void;
}

type Ask = (asked: Omit<Asked, 'rpc'>, signal: AbortSignal | undefined) => Promise<Answered | null>;

/**
 * The end that answers keeps the deadline and says why it was missed (no such service, no answer of it); the one that asks
 * waits so much longer for that.
 */
const ANSWER_MS = 1_000;

/** Sends calls and gives each its answer; null: the channel was lost. */
function createAsker(channel: RpcChannel): Ask {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  channel.onMessage((message) => {
    if (isAnswered(message)) waiting.get(message.rpc)?.answered(message);
  });
  channel.onClose(() => {
    for (const one of [...waiting.values()]) one.lost();
  });
  return (asked, signal) => {
    const rpc = ++last;
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        waiting.delete(rpc);
        then();
      };
      const giveUp = (reason: unknown): void => {
        if (channel.isOpen()) channel.send({ rpc, isGivenUp: true } satisfies GivenUp);
        settle(() => reject(reason));
      };
      const expire = (): void =>
        giveUp(new AppError('request_timeout_error', `${asked.path}: Deadline exceeded`));
      const timer = setTimeout(expire, asked.deadlineMs + ANSWER_MS);
      const cancel = (): void => giveUp(signal?.reason);
      signal?.addEventListener('abort', cancel, { once: true });
      waiting.set(rpc, {
        answered: (answer) => settle(() => resolve(answer)),
        lost: () => settle(() => resolve(null)),
      });
      channel.send({ rpc, ...asked } satisfies Asked);
    });
  };
}

/** The end that calls. `other`: for streams, and for everything once the channel is closed. */
export function createRelayedRpc(
  channel: RpcChannel,
  other: RpcConnector & { close(): void },
): RpcConnector & { close(): void } {
  const ask = createAsker(channel);
  const unary = (service: ServiceName, definition: ServiceDefinition, name: string): Method => {
    const method = definition.methods[name]!;
    const path = methodPath(definition, method);
    const elsewhere = (other.client(definition, service) as Record<string, Method>)[name]!;
    return async (request, o = {}) => {
      assertNotInTransaction(path);
      o.signal?.throwIfAborted();
      const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
      if (channel.isOpen()) {
        const body = pack(method.requestType.encode(method.requestType.fromPartial(request)).finish());
        const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
        const answer = await ask({ service, path, body, deadlineMs, ...traceHeader() }, o.signal);
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

const errorOf = ({ code, message, details }: NonNullable<Answered['error']>): AppError =>
  new AppError(code, message, details);

function traceHeader(): { traceparent?: string } {
  if (!isTracing()) return {};
  const metadata = new Metadata();
  injectTrace(metadata);
  const [traceparent] = metadata.get('traceparent');
  return typeof traceparent === 'string' ? { traceparent } : {};
}
