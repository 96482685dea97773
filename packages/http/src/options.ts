import type { ServiceName } from '@baton/contracts';
import type { Log, Secret } from '@baton/kernel';
import type { ServerTls } from '@baton/tls';
import type { BoundRoute, Wire } from './call';

export interface PlainAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** One answered request, for metrics. `route` is the contract's id, a plain path or `unknown`. */
export interface ObservedRequest {
  route: string;
  method: string;
  status: number;
  durationMs: number;
}

export interface HttpAppOptions {
  service: ServiceName;
  routes: BoundRoute[];
  internalKey: Secret;
  log: Log;
  wire: Wire;
  /** Paths outside /api, open to everybody: /healthz, /readyz, /metrics. */
  plain?: Record<string, (url: string) => Promise<PlainAnswer>>;
  /** Check every JSON answer against its contract; for tests and development. */
  validateResponses?: boolean;
  observe?: (request: ObservedRequest) => void;
  /** Default 10 MiB. */
  jsonLimitBytes?: number;
  heartbeatMs?: number;
  /** Absent: plain. */
  tls?: ServerTls | undefined;
}
