import type { ServiceName } from '@baton/contracts';
import type { Caller, HeldLease } from '@baton/trust';
import type { HeldProof } from './lease-scope';

/** A partial message as clients may send it: absent fields get their protobuf defaults. */
export type DeepPartial<T> = T extends Uint8Array | string | number | boolean | bigint | null | undefined
  ? T
  : T extends readonly (infer U)[]
    ? DeepPartial<U>[]
    : T extends { $case: string; value: unknown }
      ? { $case: T['$case']; value?: DeepPartial<T['value']> }
      : T extends object
        ? { [K in keyof T]?: DeepPartial<T[K]> }
        : T;

/** The parts of a generated message type (ts-proto) that rpc needs. */
export interface MessageFns<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(input: Uint8Array): T;
  fromPartial(object: any): T;
}

/** One method of a generated service definition (`outputServices=generic-definitions`). */
export interface MethodDefinition {
  readonly name: string;
  readonly requestType: MessageFns<any>;
  readonly responseType: MessageFns<any>;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** A generated service definition, e.g. `executionsRpc.ExecutionsServiceDefinition`. */
export interface ServiceDefinition {
  readonly name: string;
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

export interface ServedCall {
  /** Aborted when the caller gives up or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds until the caller's deadline. */
  readonly deadlineMs: number;
  /** Absent where calls are not guarded (inside one process). */
  readonly caller?: Caller;
  /** The lease of a calling worker, where the method requires one. */
  readonly lease?: HeldLease | null;
}

export interface CallOptions {
  /** Milliseconds from now until the call is given up; default 10 s. */
  deadlineMs?: number;
  signal?: AbortSignal;
  /** The lease for which the caller acts; absent: the current lease (lease-scope.ts), if any. */
  lease?: HeldProof | undefined;
}

type MessageOf<F> = F extends MessageFns<infer T> ? T : never;

/** The handlers that a service implements for `Def`. Unary: a promise of the whole response; stream: an async iterable. */
export type RpcHandlers<Def extends ServiceDefinition> = {
  [M in keyof Def['methods']]: Def['methods'][M] extends { responseStream: true }
    ? (
        request: MessageOf<Def['methods'][M]['requestType']>,
        call: ServedCall,
      ) => AsyncIterable<MessageOf<Def['methods'][M]['responseType']>>
    : (
        request: MessageOf<Def['methods'][M]['requestType']>,
        call: ServedCall,
      ) => Promise<MessageOf<Def['methods'][M]['responseType']>>;
};

/** The client of `Def`. Errors are AppErrors. */
export type RpcClient<Def extends ServiceDefinition> = {
  [M in keyof Def['methods']]: Def['methods'][M] extends { responseStream: true }
    ? (
        request: DeepPartial<MessageOf<Def['methods'][M]['requestType']>>,
        o?: CallOptions,
      ) => AsyncIterable<MessageOf<Def['methods'][M]['responseType']>>
    : (
        request: DeepPartial<MessageOf<Def['methods'][M]['requestType']>>,
        o?: CallOptions,
      ) => Promise<MessageOf<Def['methods'][M]['responseType']>>;
};

export interface RpcConnector {
  client<Def extends ServiceDefinition>(definition: Def, service: ServiceName): RpcClient<Def>;
}

/** One answered call, for metrics. `code`: `ok` or an error code. */
export interface ObservedCall {
  method: string;
  code: string;
  durationMs: number;
}

export const DEFAULT_DEADLINE_MS = 10_000;
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Returns the same bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Path on the wire: /baton.catalog.v1.CatalogService/GetPlan. */
export function methodPath(definition: ServiceDefinition, method: MethodDefinition): string {
  return `/${definition.fullName}/${method.name}`;
}
