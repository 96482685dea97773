/**
 * Calls that this process passes on for somebody else, whose credential they show: the gateway does so for agents. The bytes of a
 * message go through as they are. All of them share the channels of this process.
 */
import type { ServiceName } from '@baton/contracts';
import { AppError, type Log } from '@baton/kernel';
import type { CallerCredential } from '@baton/trust';
import { type Admitted, createAdmission, type RpcGuard } from './admission';
import {
  bufferOf,
  type MethodDefinition,
  methodPath,
  type RpcConnector,
  type ServiceDefinition,
} from './definition';
import type { LocalCallOptions } from './local';
import { withServerSpan } from './tracing';

export interface PassedCall {
  service: ServiceName;
  definition: ServiceDefinition;
  method: MethodDefinition;
  /** The encoded request. */
  body: Uint8Array;
  /** Who asks; his token is shown in place of the one of this process. */
  as: CallerCredential;
  /** Proof of the lease for which he acts; empty: none. */
  lease: string;
  /** W3C trace context of the asker. */
  traceparent?: string | undefined;
  /** Milliseconds from now. */
  deadlineMs: number;
  signal: AbortSignal;
}

export interface RpcPassage {
  /** Returns the encoded answer. @throws AppError of the service, or request_timeout_error, service_unavailable_error */
  unary(call: PassedCall): Promise<Uint8Array>;
  /** Returns the encoded parts of a streamed answer, each when it is asked for. @throws AppError as `unary` */
  stream(call: PassedCall): AsyncIterable<Uint8Array>;
}

/** Returns the token that the caller shows to the service; waits for his first one. @throws AppError unauthorized_error */
export async function tokenShown({ as, service, deadlineMs, signal }: PassedCall): Promise<string> {
  const known = as.tokenFor(service);
  if (known) return known;
  await raced(as.ready(), deadlineMs, signal);
  const token = as.tokenFor(service);
  if (!token) throw new AppError('unauthorized_error', 'The caller has no credential any more');
  return token;
}

/** Settles with `work`, or when the time or the caller's patience ends. */
async function raced(work: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop!: () => void;
  const over = new Promise<never>((_, reject) => {
    const late = (): void => reject(new AppError('service_unavailable_error', 'No credential came in time'));
    const timer = setTimeout(late, limitMs);
    const left = (): void => reject(signal.reason);
    signal.addEventListener('abort', left, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', left);
    };
  });
  try {
    await Promise.race([work, over]);
  } finally {
    stop();
  }
}

type Method = (request: unknown, o: LocalCallOptions) => unknown;

/**
 * Passes calls on to services of the same process. They are checked as calls that come over a network: token, table of callers,
 * proof of the lease.
 */
export function createGuardedPassage(rpc: RpcConnector, o: { guard: RpcGuard; log: Log }): RpcPassage {
  const admission = createAdmission(o.guard, o.log);
  const clients = new Map<string, Record<string, Method>>();
  const clientOf = ({ service, definition }: PassedCall): Record<string, Method> => {
    const name = `${service}/${definition.fullName}`;
    const known = clients.get(name) ?? (rpc.client(definition, service) as unknown as Record<string, Method>);
    clients.set(name, known);
    return known;
  };
  /** In an object, so that the answer of a unary call is not awaited here. */
  const begin = async (call: PassedCall): Promise<{ answer: unknown }> => {
    const { definition, method, deadlineMs, signal, lease } = call;
    const caller = admission.callerOf(await tokenShown(call));
    const request = decoded(method, methodPath(definition, method), call.body);
    const admitted: Admitted = admission.admit(methodPath(definition, method), caller, lease, request);
    return { answer: clientOf(call)[nameOf(call)]!(request, { deadlineMs, signal, admitted }) };
  };
  return {
    async unary(call) {
      const serve = async (): Promise<unknown> => await (await begin(call)).answer;
      const path = methodPath(call.definition, call.method);
      const answer = await withServerSpan(call.traceparent, path, serve);
      return bufferOf(call.method.responseType.encode(answer).finish());
    },
    async *stream(call) {
      const parts = (await begin(call)).answer as AsyncIterable<unknown>;
      for await (const part of parts) yield bufferOf(call.method.responseType.encode(part).finish());
    },
  };
}

/** Key of the method in its definition. */
function nameOf({ definition, method }: PassedCall): string {
  const found = Object.entries(definition.methods).find(([, one]) => one === method);
  return found![0];
}

/** @throws AppError bad_parameters_error when the bytes are no request of the method */
export function decoded(method: MethodDefinition, path: string, body: Uint8Array): unknown {
  try {
    return method.requestType.decode(body);
  } catch (cause) {
    throw new AppError('bad_parameters_error', `${path}: the request cannot be read`, {}, { cause });
  }
}
