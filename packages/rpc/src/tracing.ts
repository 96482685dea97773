/** Trace context across rpc; costs nothing while OpenTelemetry is not active. */
import type { Metadata } from '@grpc/grpc-js';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

function carrierOf(): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** Adds traceparent to outgoing metadata when a span is active. */
export function injectTrace(metadata: Metadata): void {
  for (const [key, value] of Object.entries(carrierOf())) metadata.set(key, value);
}

/** Returns traceparent for a message of a channel; nothing when no span is active. */
export function traceHeader(): { traceparent?: string } {
  if (!isTracing()) return {};
  const { traceparent } = carrierOf();
  return traceparent ? { traceparent } : {};
}

export function isTracing(): boolean {
  return trace.getSpan(context.active()) !== undefined;
}

export function traceparentOf(metadata: Metadata): string | undefined {
  const [traceparent] = metadata.get('traceparent');
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/** Runs `serve` in a span below the caller's, when the caller sent one. */
export function withServerSpan<T>(
  traceparent: string | undefined,
  method: string,
  serve: () => Promise<T>,
): Promise<T> {
  if (!traceparent) return serve();
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
