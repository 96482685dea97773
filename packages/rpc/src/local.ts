/** The same RPC contract inside one process (standalone): copies instead of bytes, equal errors and deadlines. */
import { rpcRules, type ServiceName } from '@baton/contracts';
import { AppError, type Log, silentLog, systemClock } from '@baton/kernel';
import type { Admitted } from './admission';
import {
  type CallOptions,
  DEFAULT_DEADLINE_MS,
  type MethodDefinition,
  methodPath,
  type RpcClient,
  type RpcConnector,
  type RpcHandlers,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
import { visibleError } from './error-mapping';
import { pause } from './pause';
import { assertNotInTransaction, outsideRequests } from './tx-guard';

export interface LocalRpc extends RpcConnector {
  /** Returns the connector of a service of this process; the table of callers holds here too. */
  as(caller: ServiceName): RpcConnector;
  serve<Def extends ServiceDefinition>(
    service: ServiceName,
    definition: Def,
    handlers: RpcHandlers<Def>,
  ): void;
  /** Removes a service: later calls find it unavailable, as after a stop. */
  withdraw(service: ServiceName): void;
}

type Method = (request: unknown, call: ServedCall) => unknown;
/** Options of a call; `admitted` is set where the call came from outside (relay.ts). */
export interface LocalCallOptions extends CallOptions {
  admitted?: Admitted;
}
interface Target {
  service: ServiceName;
  name: string;
  method: MethodDefinition;
  path: string;
}
type Served = Map<string, Record<string, Method>>;

const SERVE_PAUSE_MS = 20;

/** Returns the handler; waits for a service that has not started yet, as a channel would. */
async function handlerOf(
  served: Served,
  key: string,
  target: Target,
  deadline: number,
  signal?: AbortSignal,
): Promise<Method> {
  for (;;) {
    const handler = served.get(key)?.[target.name];
    if (handler) return handler;
    if (systemClock.now() + SERVE_PAUSE_MS >= deadline) {
      throw new AppError(
        'service_unavailable_error',
        `${target.path}: service ${target.service} does not run`,
      );
    }
    await pause(SERVE_PAUSE_MS, signal);
  }
}

/** Returns the error as a caller behind a network would see it: a fresh error, details as JSON. */
function crossed(error: unknown, path: string, log: Log): AppError {
  const known = visibleError(error, path, log);
  return new AppError(known.code, known.message, JSON.parse(JSON.stringify(known.details)));
}

interface Timed {
  call: ServedCall;
  expired: Promise<never>;
  stop(): void;
}

/** Deadline and abort of one call; `expired` rejects when either comes first. */
function timed(
  path: string,
  deadline: number,
  signal: AbortSignal | undefined,
  admitted: Admitted | undefined,
): Timed {
  const controller = new AbortController();
  let refuse!: (error: unknown) => void;
  const expired = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  expired.catch(() => undefined);
  const give = (error: unknown): void => {
    refuse(error);
    controller.abort();
  };
  const cancel = (): void => give(signal?.reason);
  const timer = setTimeout(
    () => give(new AppError('request_timeout_error', `${path}: Deadline exceeded`)),
    deadline - systemClock.now(),
  );
  signal?.addEventListener('abort', cancel, { once: true });
  return {
    call: {
      signal: controller.signal,
      get deadlineMs() {
        return Math.max(0, deadline - systemClock.now());
      },
      ...admitted,
    },
    expired,
    stop() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
}

async function callUnary(
  served: Served,
  key: string,
  target: Target,
  log: Log,
  request: unknown,
  o: LocalCallOptions = {},
): Promise<unknown> {
  assertNotInTransaction(target.path);
  o.signal?.throwIfAborted();
  const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
  const message = target.method.requestType.fromPartial(request);
  const handler = await handlerOf(served, key, target, deadline, o.signal);
  const { call, expired, stop } = timed(target.path, deadline, o.signal, o.admitted);
  const answer = outsideRequests(async () => handler(message, call)).catch((error) => {
    throw crossed(error, target.path, log);
  });
  try {
    return target.method.responseType.fromPartial(await Promise.race([answer, expired]));
  } finally {
    stop();
  }
}

async function* callStream(
  served: Served,
  key: string,
  target: Target,
  log: Log,
  request: unknown,
  o: LocalCallOptions = {},
): AsyncGenerator<unknown> {
  assertNotInTransaction(target.path);
  o.signal?.throwIfAborted();
  const deadline = systemClock.now() + (o.deadlineMs ?? DEFAULT_DEADLINE_MS);
  const message = target.method.requestType.fromPartial(request);
  const handler = await handlerOf(served, key, target, deadline, o.signal);
  const { call, expired, stop } = timed(target.path, deadline, o.signal, o.admitted);
  const iterator = (handler(message, call) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = outsideRequests(() => iterator.next()).catch((error) => {
        throw crossed(error, target.path, log);
      });
      const next = await Promise.race([step, expired]);
      if (next.done) return;
      yield target.method.responseType.fromPartial(next.value);
    }
  } finally {
    stop();
    iterator.return?.()?.catch(() => undefined);
  }
}

/** `caller` null: the holder of the connector may call every method (the relay, tests). */
function optionsFor(path: string, caller: ServiceName | null) {
  if (caller === null) return (o: CallOptions | undefined) => o;
  const isAllowed = rpcRules.get(path)?.callers.includes(caller) === true;
  const admitted: Admitted = { caller: { name: caller, workerId: '' }, lease: null };
  return (o: CallOptions | undefined): LocalCallOptions => {
    if (!isAllowed)
      throw new AppError('forbidden_error', `${path}: not open to ${caller}: it is none of its callers`);
    return { ...o, admitted };
  };
}

export function createLocalRpc(o: { log?: Log } = {}): LocalRpc {
  const served: Served = new Map();
  const log = o.log ?? silentLog;
  const keyOf = (service: ServiceName, definition: ServiceDefinition): string =>
    `${service}/${definition.fullName}`;
  const clientOf = <Def extends ServiceDefinition>(
    definition: Def,
    service: ServiceName,
    caller: ServiceName | null,
  ): RpcClient<Def> => {
    const key = keyOf(service, definition);
    const methods = Object.entries(definition.methods).map(([name, method]) => {
      const target = { service, name, method, path: methodPath(definition, method) };
      const call = method.responseStream ? callStream : callUnary;
      const options = optionsFor(target.path, caller);
      return [
        name,
        (request: unknown, o?: CallOptions) => call(served, key, target, log, request, options(o)),
      ];
    });
    return Object.fromEntries(methods) as RpcClient<Def>;
  };
  return {
    serve(service, definition, handlers) {
      served.set(keyOf(service, definition), handlers as unknown as Record<string, Method>);
    },
    withdraw(service) {
      for (const key of [...served.keys()]) if (key.startsWith(`${service}/`)) served.delete(key);
    },
    client: (definition, service) => clientOf(definition, service, null),
    as: (caller) => ({ client: (definition, service) => clientOf(definition, service, caller) }),
  };
}
