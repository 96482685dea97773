// Brings the schemas of all services up to date and ends: the job that runs before the services (compose, Kubernetes).
import { dirname } from 'node:path';
import { createLogger, envValue, loadConfig } from '@baton/service-runtime';
import { z } from 'zod';
import { migrateAll } from './migrate';

const config = loadConfig(
  z.object({
    DATABASE_URL: envValue.secret().describe('PostgreSQL; the user must be allowed to create schemas'),
  }),
  process.env,
);
const log = createLogger({ service: 'standalone', level: 'info' });

migrateAll(config.DATABASE_URL.expose(), dirname(require.main?.filename ?? __filename), log).catch(
  (error: unknown) => {
    log.error({ err: error }, 'migrations failed');
    process.exit(1);
  },
);
