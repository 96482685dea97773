/** OpenTelemetry, loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set: other installations do not load its 90 MB of packages. */
import type { Log } from '@baton/kernel';

const started = Symbol.for('baton.telemetry');
type Stop = () => Promise<void>;

/**
 * Starts tracing once per process and returns the function that flushes and stops it. Bundles call it before anything else is
 * loaded (dist/telemetry.js, required by their first line), so that http and pg are patched when they load.
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
  // Modules loaded before this line (http) stay unpatched; bundles preload instead.
  log?.warn({}, 'tracing was not preloaded: spans of HTTP are missing');
  return stop;
}

/** Registers the stop function of a telemetry that a preloaded file started. */
export function registerTelemetry(stop: Stop): void {
  (globalThis as { [started]?: Stop })[started] = stop;
}
