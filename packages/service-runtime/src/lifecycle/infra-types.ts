import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlobStore } from '@baton/blob-store';
import type { Broker } from '@baton/broker';
import type { Cache } from '@baton/cache';
import type { ServiceName } from '@baton/contracts';
import type { Clock, Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { RpcConnector, RpcPassage } from '@baton/rpc';
import type { Trust } from '@baton/trust';
import type { Registry } from 'prom-client';
import type { Transport } from '../transport/transport';

export type HttpHandle = (request: IncomingMessage, response: ServerResponse) => void;

/** HTTP apps of services in the same process (standalone), through which the gateway reaches them without a socket. */
export interface LocalHttp {
  set(service: ServiceName, handle: HttpHandle): void;
  /** Null before the service has started. */
  handleOf(service: ServiceName): HttpHandle | null;
}

/** The infrastructure of a service. `S`: its table interface. */
export interface Infra<S = unknown> {
  /** Absent in gateway and worker; use `requireDb`. */
  db?: Db<S>;
  broker: Broker;
  cache: Cache;
  rpc: RpcConnector;
  /** Passes calls of others on (the gateway's agents); absent where no service is called over a network, unless it was given. */
  passage?: RpcPassage;
  blobs: BlobStore;
  log: Log;
  clock: Clock;
  /** Unique per running process. */
  instanceId: string;
  /** Registry for the service's own metrics; scraped at /metrics. */
  metrics: Registry;
  /** Certificates of this process; absent: all our servers are without TLS. */
  transport?: Transport;
  /** Only in standalone. */
  localHttp?: LocalHttp;
  /** Absent in workers; use `requireTrust`. */
  trust?: Trust;
  close(): Promise<void>;
}

export function createLocalHttp(): LocalHttp {
  const handles = new Map<ServiceName, HttpHandle>();
  return {
    set: (service, handle) => void handles.set(service, handle),
    handleOf: (service) => handles.get(service) ?? null,
  };
}

/** Returns the database of a service. @throws Error when the service was connected without one. */
export function requireDb<S>(infra: Infra<any>): Db<S> {
  if (!infra.db) throw new Error('this service runs without a database');
  return infra.db as Db<S>;
}
