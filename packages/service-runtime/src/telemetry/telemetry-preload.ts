/** Entry of dist/telemetry.js: the first line of every bundle requires it when tracing is configured. */
import { registerTelemetry } from './telemetry';
import { loadTelemetry } from './telemetry-sdk';

registerTelemetry(loadTelemetry(process.env.BATON_SERVICE ?? 'service'));
