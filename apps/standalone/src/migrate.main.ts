// Brings the schemas of all services up to date and ends: the job that runs before the services (compose, Kubernetes).
import { dirname } from 'node:path';
import { createLogger, envValue, loadConfig } from '@baton/service-runtime';
import { z } from 'zod';
import { migrateAll } from './migrate';

const config = loadConfig(
  z.object({
    DATABASE_URL: envValue.secret().describe('PostgreSQL; the user must be allowed to create schemas'),
    BATON_ROW_SECURITY: z.enum(['on', 'off']).default('on').describe('As in the services'),
  }),
  process.env,
);
const log = createLogger({ service: 'standalone', level: 'info' });

const mainDir = dirname(require.main?.filename ?? __filename);
const hasRowSecurity = config.BATON_ROW_SECURITY === 'on';

migrateAll(config.DATABASE_URL.expose(), mainDir, log, hasRowSecurity).catch((error: unknown) => {
  log.error({ err: error }, 'migrations failed');
  process.exit(1);
});
