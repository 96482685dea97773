/**
 * gRPC services whose definitions and handlers are loaded with their first call. The standard services (health, reflection) load
 * the loader of .proto files, which takes 60 ms of CPU and 5 MB. A process that is never asked does not pay for it.
 */
import {
  type MethodDefinition,
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type StatusObject,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';

/** The properties of a method that the server must know before its definition is loaded. */
export interface LateMethod {
  /** /grpc.health.v1.Health/Check */
  path: string;
  requestStream: boolean;
  responseStream: boolean;
}

/** A service as a library passes it to `addService`: messages are objects. */
export interface LoadedService {
  definition: Readonly<Record<string, MethodDefinition<any, any>>>;
  implementation: UntypedServiceImplementation;
}

/** The token and certificate that a caller shows. */
export type Shown = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getAuthContext'>;
export type Refusal = Partial<StatusObject>;

export interface LateServices {
  methods: readonly LateMethod[];
  load: () => Promise<readonly LoadedService[]>;
  /** Returns the refusal of this caller; null: it may call. */
  refusalOf?: (call: Shown) => Refusal | null;
}

type Method = MethodDefinition<unknown, unknown>;
type Done = sendUnaryData<unknown>;
type Bytes = ServerUnaryCall<Buffer, Buffer> & ServerDuplexStream<Buffer, Buffer>;
interface Bound {
  method: Method;
  handler: (call: unknown, done?: Done) => void;
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;
const onBytes = {
  requestSerialize: asTheyAre,
  requestDeserialize: asTheyAre,
  responseSerialize: asTheyAre,
  responseDeserialize: asTheyAre,
};

function byPath(services: readonly LoadedService[]): Map<string, Bound> {
  const bound = new Map<string, Bound>();
  for (const { definition, implementation } of services)
    for (const [name, method] of Object.entries(definition)) {
      const handler = implementation[name] ?? implementation[method.originalName ?? ''];
      if (handler) bound.set(method.path, { method, handler: handler as Bound['handler'] });
    }
  return bound;
}

function refuse(call: Bytes, done: Done | undefined, refusal: Refusal): void {
  if (done) done(refusal);
  else call.emit('error', refusal);
}

/** Runs `step`; bytes that are no valid message end the call, whoever sent them. */
function orRefuse(call: Bytes, done: Done | undefined, step: () => void): void {
  try {
    step();
  } catch (error) {
    refuse(call, done, { code: status.INVALID_ARGUMENT, details: (error as Error).message });
  }
}

/** Wraps the call for a handler of the loaded service, which reads and writes objects. */
function withObjects(call: Bytes, { requestDeserialize, responseSerialize }: Method): unknown {
  const onData = (listener: (value: unknown) => void) => (bytes: Buffer) =>
    orRefuse(call, undefined, () => listener(requestDeserialize(bytes)));
  return {
    request: call.request && requestDeserialize(call.request),
    on: (event: string, listener: (value?: unknown) => void) =>
      void call.on(event, event === 'data' ? onData(listener) : listener),
    write: (message: unknown) => call.write(responseSerialize(message)),
    end: () => call.end(),
  };
}

/** Adds the methods to a server. When loading fails, the call gets UNAVAILABLE and the next call loads again. */
export function addLateServices(
  server: Pick<Server, 'addService'>,
  { methods, load, refusalOf = () => null }: LateServices,
): void {
  let loading: Promise<Map<string, Bound>> | null = null;
  const answer = async (path: string, call: Bytes, done?: Done): Promise<void> => {
    loading ??= load().then(byPath);
    let bound: Bound;
    try {
      bound = (await loading).get(path)!;
    } catch (error) {
      loading = null;
      return refuse(call, done, { code: status.UNAVAILABLE, details: (error as Error).message });
    }
    const { method, handler } = bound;
    orRefuse(call, done, () =>
      handler(withObjects(call, method), (error, value) =>
        done?.(error, error ? null : method.responseSerialize(value)),
      ),
    );
  };
  const definition: Record<string, Method> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const method of methods) {
    definition[method.path] = { ...method, ...onBytes } as Method;
    implementation[method.path] = ((call: Bytes, done?: Done) => {
      const refusal = refusalOf(call);
      if (refusal) refuse(call, done, refusal);
      else void answer(method.path, call, done);
    }) as never;
  }
  server.addService(definition, implementation);
}
