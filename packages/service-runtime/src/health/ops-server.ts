/** Health and metrics: what orchestrators and scrapers ask, on a port of its own that no user reaches. */
import type { HttpApp, PlainAnswer } from '@baton/http';
import type { Log } from '@baton/kernel';
import { withPlainPaths } from '../transport/raw-http';
import { opsTls, type Transport } from '../transport/transport';
import type { Health } from './health';
import type { Metrics } from './metrics';

export type PlainPaths = Record<string, (url: string) => Promise<PlainAnswer>>;

/** Everything that the process says about itself. */
export function opsPaths(health: Health, metrics: Metrics): PlainPaths {
  return {
    '/healthz': health.healthz,
    '/readyz': health.readyz,
    '/metrics': async () => ({
      status: 200,
      contentType: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
  };
}

/** For strangers: whether to send traffic here, and nothing of what lies behind. */
export function publicPaths(health: Health): PlainPaths {
  return {
    '/healthz': health.healthz,
    '/readyz': async (url) => {
      const answer = await health.readyz(url);
      const { status, service } = JSON.parse(answer.body) as { status: string; service: string };
      return { ...answer, body: JSON.stringify({ status, service }) };
    },
  };
}

/** The server; those who ask show no certificate, but see ours where the services have some. */
export function createOpsServer(paths: PlainPaths, log: Log, transport: Transport | undefined): HttpApp {
  return withPlainPaths((_request, response) => void response.writeHead(404).end(), paths, log, {
    tls: opsTls(transport),
  });
}
