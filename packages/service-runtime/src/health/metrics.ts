/** Prometheus metrics that every service has; times in seconds, as usual in Prometheus. */
import type { ObservedRequest } from '@baton/http';
import type { ObservedCall } from '@baton/rpc';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  http(request: ObservedRequest): void;
  rpc(call: ObservedCall): void;
  loop(loop: string, durationMs: number, isFailed: boolean): void;
  /** `count` is called at every scrape. */
  outboxDepth(count: () => Promise<number>): void;
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

function histogram(registry: Registry, name: string, help: string, labelNames: string[]): Histogram {
  return new Histogram({ name, help, labelNames, buckets, registers: [registry] });
}

/** Counts messages whose seal is missing or wrong: they are parked, or dropped. */
export function countRefused(registry: Registry): (type: string) => void {
  const refused = new Counter({
    name: 'baton_messages_refused_total',
    help: 'Messages that were not believed: no seal of a service that may send them',
    labelNames: ['type'],
    registers: [registry],
  });
  return (type) => refused.labels(type).inc();
}

const NEVER_MS = 2 ** 31 - 1;
const SAMPLED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Collects memory, CPU and event loop metrics of this process. The samples of the event loop delay are left out: their timer of 10
 * ms keeps an idle process at half a percent of a core. The utilization of the event loop tells as much, and costs nothing.
 */
function collectProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const statistic of SAMPLED) registry.removeSingleMetric(`nodejs_eventloop_lag_${statistic}_seconds`);
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: 'baton_event_loop_utilization',
    help: 'Share of the time since the last scrape that the event loop was busy, 0 to 1',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

/** `hasProcess: false` for further services of one process: the process metrics are counted once. */
export function createMetrics(
  service: string,
  o: { hasProcess?: boolean; registry?: Registry } = {},
): Metrics {
  const registry = o.registry ?? new Registry();
  registry.setDefaultLabels({ service });
  if (o.hasProcess !== false) collectProcess(registry);
  const http = histogram(registry, 'baton_http_seconds', 'Duration of HTTP requests', [
    'route',
    'method',
    'status',
  ]);
  const rpc = histogram(registry, 'baton_rpc_seconds', 'Duration of served rpc calls', ['method', 'code']);
  const loops = histogram(registry, 'baton_loop_seconds', 'Duration of loop ticks', ['loop']);
  const failures = new Counter({
    name: 'baton_loop_failures_total',
    help: 'Failed loop ticks',
    labelNames: ['loop'],
    registers: [registry],
  });
  return {
    registry,
    http: (r) => http.labels(r.route, r.method, String(r.status)).observe(r.durationMs / 1000),
    rpc: (c) => rpc.labels(c.method, c.code).observe(c.durationMs / 1000),
    loop: (name, durationMs, isFailed) => {
      loops.labels(name).observe(durationMs / 1000);
      if (isFailed) failures.labels(name).inc();
    },
    outboxDepth: (count) => {
      new Gauge({
        name: 'baton_outbox_depth',
        help: 'Messages that wait in the outbox',
        registers: [registry],
        async collect() {
          // A scrape must not fail while the database is away: the last value stays.
          await count().then(
            (n) => this.set(n),
            () => undefined,
          );
        },
      });
    },
  };
}
