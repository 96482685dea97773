/**
 * Unary calls between a process and its parent process, over their channel of messages. A call costs less than a sixth of a gRPC
 * call on one machine (below 0.10 ms and 0.10 ms of CPU for both sides a call, against 0.60 and 0.60). Streams, and all calls while
 * there is no channel, use another connector.
 */
import type { ServiceName } from '@baton/contracts';
import { AppError, type Log, silentLog, systemClock } from '@baton/kernel';
import type { Caller, CallerCredential } from '@baton/trust';
import { createAdmission, isForNewcomers, type RpcGuard } from './admission';
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
  DEFAULT_DEADLINE_MS,
  type MethodDefinition,
  methodPath,
  type RpcClient,
  type RpcConnector,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
import { leaseProof } from './lease-scope';
import type { LocalCallOptions } from './local';
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

/** Bytes as base64: a round trip over a channel of JSON takes 0.05 ms, over one of `v8.serialize` 0.10 ms and a third more CPU. */
type Packed = string;
const pack = (bytes: Uint8Array): Packed => bufferOf(bytes).toString('base64');
const unpack = (text: Packed): Uint8Array => Buffer.from(text, 'base64');

export interface RpcRelay {
  /** Opens a service to callers at the other end; the `rpc` of the relay reaches it. */
  serve(service: ServiceName, definition: ServiceDefinition): void;
  attach(channel: RpcChannel): void;
}

type Method = (request: unknown, o: LocalCallOptions) => Promise<unknown>;

interface Relayed {
  definition: MethodDefinition;
  /** Path without the name of the service. */
  path: string;
  call: Method;
}

/** Services share the channel, so the name of the service stands before the path. */
const pathOf = (service: ServiceName, definition: ServiceDefinition, method: MethodDefinition): string =>
  `${service}${methodPath(definition, method)}`;

/** The caller before it is registered: a process at the other end that this process started. */
const child: Caller = Object.freeze({ name: 'newcomer', workerId: '', isChild: true });

/** The answering end: passes calls that the table of callers allows on to `rpc`, which knows the services. */
export function createRpcRelay(rpc: RpcConnector, o: { guard?: RpcGuard; log?: Log } = {}): RpcRelay {
  const methods = new Map<string, Relayed>();
  const admission = o.guard ? createAdmission(o.guard, o.log ?? silentLog) : null;
  const answerTo = async (
    asked: Asked<Packed>,
    call: ServedCall,
    token: string | undefined,
  ): Promise<Answered<Packed>> => {
    const known = methods.get(asked.path);
    try {
      if (!known) throw new AppError('service_unavailable_error', `${asked.path}: not served here`);
      const request = known.definition.requestType.decode(unpack(asked.body));
      const { deadlineMs } = asked;
      const caller = token ? admission?.callerOf(token) : child;
      const admitted = caller && admission?.admit(known.path, caller, asked.lease, request);
      const serve = () =>
        known.call(request, { deadlineMs, signal: call.signal, ...(admitted && { admitted }) });
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
          methods.set(pathOf(service, definition, method), {
            definition: method,
            path: methodPath(definition, method),
            call: client[name]!,
          });
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
      const tokens = new Map<string, string>();
      answerCalls(end, (asked, call) => {
        const service = asked.path.slice(0, asked.path.indexOf('/'));
        if (asked.callerToken) tokens.set(service, asked.callerToken);
        return answerTo(asked, call, tokens.get(service));
      });
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
 * Extra wait of the asking end beyond the deadline. The answering end keeps the deadline and tells why it was missed (no such
 * service, or no answer from it).
 */
const ANSWER_MS = 1_000;

/** Returns the caller's token with the first call to a service, and after the token has changed. */
function tellingWho(credential: CallerCredential | undefined) {
  const told = new Map<ServiceName, string>();
  return (service: ServiceName): { callerToken?: string } => {
    const token = credential?.tokenFor(service);
    if (!token || told.get(service) === token) return {};
    told.set(service, token);
    return { callerToken: token };
  };
}

/** The asking end. `other`: for streams, and for all calls once the channel is closed. */
export function createRelayedRpc(
  channel: RpcChannel,
  other: RpcConnector & { close(): void },
  credential?: CallerCredential,
): RpcConnector & { close(): void } {
  const end: AskingEnd<Packed> = {
    isOpen: channel.isOpen,
    send: channel.send,
    onAnswered: (receive) =>
      channel.onMessage((message) => isCall(message) && receive(message as Answered<Packed>)),
    onClose: channel.onClose,
  };
  const ask = createAsker(end, ANSWER_MS);
  const who = tellingWho(credential);
  const unary = (service: ServiceName, definition: ServiceDefinition, name: string): Method => {
    const method = definition.methods[name]!;
    const path = pathOf(service, definition, method);
    const elsewhere = (other.client(definition, service) as Record<string, Method>)[name]!;
    return async (request, o = {}) => {
      assertNotInTransaction(path);
      o.signal?.throwIfAborted();
      const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
      if (
        credential &&
        credential.tokenFor(service) === null &&
        !isForNewcomers(methodPath(definition, method))
      )
        await credential.ready();
      if (channel.isOpen()) {
        const body = pack(method.requestType.encode(method.requestType.fromPartial(request)).finish());
        const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
        const lease = leaseProof(o.lease);
        const answer = await ask(
          { path, body, deadlineMs, ...traceHeader(), ...who(service), ...(lease !== '' && { lease }) },
          o.signal,
        );
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
