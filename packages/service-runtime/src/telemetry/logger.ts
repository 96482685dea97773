import type { Log } from '@baton/kernel';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import pino from 'pino';

const secretKeys = ['password', 'token', 'secret', 'value', 'authorization', 'passphrase'];
/** Three levels deep: fields, fields of an object in a field, and one level below. */
const redactPaths = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);

export interface LoggerOptions {
  service: string;
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  instanceId?: string;
  /** Default: standard output. */
  destination?: pino.DestinationStream;
}

/** Trace ids of the active span, which link a log line to its trace. */
function traceFields(): object {
  const span = trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {};
}

/** JSON lines with level names and UTC times; fields that look like secrets are printed as [redacted]. */
export function createLogger(o: LoggerOptions): Log {
  return pino(
    {
      level: o.level,
      base: { service: o.service, ...(o.instanceId ? { instanceId: o.instanceId } : {}) },
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Under both names an error is logged with its stack.
      serializers: {
        err: pino.stdSerializers.err,
        error: (value: unknown) => (value instanceof Error ? pino.stdSerializers.err(value) : value),
      },
      redact: { paths: redactPaths, censor: '[redacted]' },
      mixin: traceFields,
    },
    o.destination ?? pino.destination(1),
  );
}
