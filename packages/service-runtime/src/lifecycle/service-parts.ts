import type { Envelope, MessageType, ServiceName } from '@baton/contracts';
import type { BoundRoute, SideDoor } from '@baton/http';
import type { RpcHandlers, ServiceDefinition } from '@baton/rpc';
import type { Checks } from '../health/health';
import type { Loop } from '../loops/loops';
import type { RawHandler } from '../transport/raw-http';
import type { HttpHandle } from './infra-types';

export interface RpcPart {
  definition: ServiceDefinition;
  handlers: object;
}
export interface ConsumerPart {
  message: MessageType<any>;
  queue: string;
  prefetch: number;
  handler: (envelope: Envelope<any>, signal: AbortSignal) => Promise<void>;
}
export interface SubscriptionPart {
  message: MessageType<any>;
  handler: (envelope: Envelope<any>) => void | Promise<void>;
  /** Called when messages may have been missed: the connection to the broker was lost and is back. */
  onGap?: () => void;
}

/** A second kind of connections on the HTTP port of a service. */
export interface ServedSideDoor extends SideDoor {
  /** Called before the port is opened, with the handler of all other requests. */
  serve(handle: HttpHandle): void;
  /** Ends its connections; called before the port is closed. */
  close(): Promise<void>;
}

/** A composed service: what `buildService` returns and the runtime starts and stops. */
export interface ServiceParts {
  name: ServiceName;
  routes: BoundRoute[];
  rpc: RpcPart[];
  consumers: ConsumerPart[];
  subscriptions: SubscriptionPart[];
  /** Each loop is safe on every replica. */
  loops: Loop[];
  /** A failing check makes the service not ready. */
  checks: Checks;
  /** Runs before anything is served. */
  start?(): Promise<void>;
  /** Runs after draining. */
  stop?(): Promise<void>;
  /** Handlers of every request except /healthz, /readyz and /metrics; the gateway forwards with them. */
  rawHandler?: RawHandler;
  /** Only together with `rawHandler`; the gateway takes the connections of agents with it. */
  sideDoor?: ServedSideDoor;
  /** Gets the maintenance state from the answer to the last heartbeat. */
  onMaintenance?(state: string): void;
  /**
   * Called when the manager's configuration has changed, or may have changed, since the last call; a call that fails is repeated.
   */
  onConfig?(): Promise<void>;
  /** The maintenance state that this service currently applies, for the next heartbeat; of gateways. */
  actsBy?(): string;
}

/** Typed part for `ServiceParts.rpc`. */
export function rpcPart<Def extends ServiceDefinition>(definition: Def, handlers: RpcHandlers<Def>): RpcPart {
  return { definition, handlers };
}

/** Typed part for `ServiceParts.consumers`. */
export function consumerPart<T>(
  message: MessageType<T>,
  o: Omit<ConsumerPart, 'message' | 'handler'> & {
    handler: (envelope: Envelope<T>, signal: AbortSignal) => Promise<void>;
  },
): ConsumerPart {
  return { message, ...o };
}

/** Typed part for `ServiceParts.subscriptions`. */
export function subscriptionPart<T>(
  message: MessageType<T>,
  handler: (envelope: Envelope<T>) => void | Promise<void>,
  onGap?: () => void,
): SubscriptionPart {
  return { message, handler, ...(onGap && { onGap }) };
}
