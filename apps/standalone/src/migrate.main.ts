// Brings the schemas of all services up to date and ends: the job that runs before the services (compose, Kubernetes).
import { dirname } from 'node:path';
import {
  CONFIG_EXIT_CODE,
  ConfigError,
  createLogger,
  envValue,
  loadConfig,
  openTransport,
  runtimeConfig,
  transportProblems,
} from '@baton/service-runtime';
import { z } from 'zod';
import { migrateAll } from './migrate';

const schema = runtimeConfig
  .pick({
    BATON_ROW_SECURITY: true,
    BATON_TLS: true,
    BATON_TLS_CA_FILE: true,
    BATON_TLS_CERT_FILE: true,
    BATON_TLS_KEY_FILE: true,
    BATON_SERVERS_CA_FILE: true,
  })
  .extend(
    z.object({
      DATABASE_URL: envValue.secret().describe('PostgreSQL; the user must be allowed to create schemas'),
    }).shape,
  );

async function main(): Promise<void> {
  const config = loadConfig(schema, process.env);
  const problems = transportProblems(config, { hasDatabase: true, isEdge: false, isService: false });
  if (problems.length > 0) throw new ConfigError(problems);
  const log = createLogger({ service: 'standalone', level: 'info' });
  const transport = openTransport(config, log);
  const mainDir = dirname(require.main?.filename ?? __filename);
  const hasRowSecurity = config.BATON_ROW_SECURITY === 'on';
  await migrateAll(config.DATABASE_URL.expose(), mainDir, log, hasRowSecurity, transport).catch((error) => {
    log.error({ err: error }, 'migrations failed');
    process.exitCode = 1;
  });
  transport.close();
}

main().catch((error: unknown) => {
  process.stderr.write(`migrate: ${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exit(error instanceof ConfigError ? CONFIG_EXIT_CODE : 1);
});
