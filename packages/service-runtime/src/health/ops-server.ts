/** Health and metrics for orchestrators and scrapers, on a separate port that no user reaches. */
import type { HttpApp, PlainAnswer } from '@baton/http';
import type { Log } from '@baton/kernel';
import { withPlainPaths } from '../transport/raw-http';
import { opsTls, type Transport } from '../transport/transport';
import type { Health } from './health';
import type { Metrics } from './metrics';

export type PlainPaths = Record<string, (url: string) => Promise<PlainAnswer>>;

/** The paths of the ops port, with all details. */
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

/** The public paths: they tell whether to send traffic here, without any details. */
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

/** Creates the server; its clients show no certificate, but see ours where the services have certificates. */
export function createOpsServer(paths: PlainPaths, log: Log, transport: Transport | undefined): HttpApp {
  return withPlainPaths((_request, response) => void response.writeHead(404).end(), paths, log, {
    tls: opsTls(transport),
  });
}
