import type { RouteContract } from '@baton/contracts';
import type { Infra } from '@baton/service-runtime';

type Observe = (contract: RouteContract | null, method: string, status: number, durationMs: number) => void;

interface Histogram {
  labels(route: string, method: string, status: string): { observe(seconds: number): void };
}

/** Returns a function that stores durations in the histogram of the runtime, which exists once the service has started. */
export function requestObserver(metrics: Infra['metrics']): Observe {
  let histogram: Histogram | undefined;
  return (contract, method, status, durationMs) => {
    histogram ??= metrics.getSingleMetric('baton_http_seconds') as Histogram | undefined;
    histogram?.labels(contract?.id ?? 'unknown', method, String(status)).observe(durationMs / 1000);
  };
}
