import type { ServiceName } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type { ServerTls } from '@baton/tls';
import type { Trust } from '@baton/trust';
import type { BoundRoute } from './call';
import type { Wire } from './wire';

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
  /** Keys that verify the caller's principal header. */
  trust: Pick<Trust, 'bundle'>;
  log: Log;
  wire: Wire;
  /** Paths outside /api, open without credentials: /healthz, /readyz, /metrics. */
  plain?: Record<string, (url: string) => Promise<PlainAnswer>>;
  /** Check every JSON answer against its contract; for tests and development. */
  validateResponses?: boolean;
  observe?: (request: ObservedRequest) => void;
  /** Default 10 MiB. */
  jsonLimitBytes?: number;
  heartbeatMs?: number;
  /** Absent: no TLS. */
  tls?: ServerTls | undefined;
}
