import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { NodeSDK } from '@opentelemetry/sdk-node';

const quietPaths = new Set(['/healthz', '/readyz', '/metrics']);

/** Starts the SDK; rpc and messages carry the trace context themselves. Endpoint and headers come from OTEL_ variables. */
export function loadTelemetry(service: string): () => Promise<void> {
  const sdk = new NodeSDK({
    serviceName: `baton-${service}`,
    traceExporter: new OTLPTraceExporter(),
    instrumentations: [
      new HttpInstrumentation({ ignoreIncomingRequestHook: (request) => quietPaths.has(request.url ?? '') }),
      new PgInstrumentation({ requireParentSpan: true }),
    ],
  });
  sdk.start();
  return async () => {
    await sdk.shutdown();
  };
}
