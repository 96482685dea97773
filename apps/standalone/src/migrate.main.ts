// Brings the schemas of all services up to date and ends: the job that runs before the services (compose, Kubernetes).
import { dirname } from 'node:path';
import { CONFIG_EXIT_CODE, ConfigError, createLogger, loadConfig } from '@baton/service-runtime';
import { migrateAll } from './migrate';
import { loginsOf, migrateConfig } from './migrate-config';

const log = createLogger({ service: 'standalone', level: 'info' });

async function main(): Promise<void> {
  const config = loadConfig(migrateConfig, process.env);
  await migrateAll({
    url: config.DATABASE_URL.expose(),
    mainDir: dirname(require.main?.filename ?? __filename),
    log,
    hasRowSecurity: config.BATON_ROW_SECURITY === 'on',
    logins: loginsOf(config),
  });
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`migrate: ${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
  log.error({ err: error }, 'migrations failed');
  process.exit(1);
});
