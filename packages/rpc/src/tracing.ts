/** Trace context across rpc; costs nothing while OpenTelemetry is not active. */
import type { Metadata } from '@grpc/grpc-js';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** Adds traceparent to outgoing metadata when a span is active. */
export function injectTrace(metadata: Metadata): void {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  for (const [key, value] of Object.entries(carrier)) metadata.set(key, value);
}

export function isTracing(): boolean {
  return trace.getSpan(context.active()) !== undefined;
}

/** Runs `serve` in a span below the caller's, when the caller sent one. */
export function withServerSpan<T>(metadata: Metadata, method: string, serve: () => Promise<T>): Promise<T> {
  const traceparent = metadata.get('traceparent')[0];
  if (typeof traceparent !== 'string') return serve();
  const parent = propagation.extract(context.active(), { traceparent });
  return trace
    .getTracer('baton-rpc')
    .startActiveSpan(method, { kind: SpanKind.SERVER }, parent, async (span) => {
      try {
        return await serve();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
}
