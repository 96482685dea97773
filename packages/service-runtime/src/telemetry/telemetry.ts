/** OpenTelemetry, loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set: 90 MB of packages that nobody else pays for. */
import type { Log } from '@baton/kernel';

const started = Symbol.for('baton.telemetry');
type Stop = () => Promise<void>;

/**
 * Starts tracing once a process and answers how to flush and stop it. Bundles call it before anything else is loaded
 * (dist/telemetry.js, required by their first line), so that http and pg are patched when they load.
 */
export async function startTelemetry(
  service: string,
  env: Record<string, string | undefined>,
  log?: Log,
): Promise<Stop> {
  const globals = globalThis as { [started]?: Stop };
  if (globals[started]) return globals[started];
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return async () => undefined;
  const { loadTelemetry } = await import('@baton/service-runtime/telemetry-sdk');
  const stop = loadTelemetry(service);
  globals[started] = stop;
  // What was loaded before this line (http) stays unpatched; bundles preload instead.
  log?.warn({}, 'tracing was not preloaded: spans of HTTP are missing');
  return stop;
}

/** The stop function of a telemetry that was started by a preloaded file. */
export function registerTelemetry(stop: Stop): void {
  (globalThis as { [started]?: Stop })[started] = stop;
}
