// Migrates the schemas of all services and ends: the job that runs before the services (compose, Kubernetes).
import { dirname } from 'node:path';
import {
  CONFIG_EXIT_CODE,
  ConfigError,
  createLogger,
  loadConfig,
  openTransport,
  transportProblems,
} from '@baton/service-runtime';
import { ensureBrokerUsers } from './broker-users';
import { migrateAll } from './migrate';
import { brokerUsersOf, loginsOf, migrateConfig } from './migrate-config';

const log = createLogger({ service: 'standalone', level: 'info' });

async function main(): Promise<void> {
  const config = loadConfig(migrateConfig, process.env);
  const problems = transportProblems(config, { hasDatabase: true, isEdge: false, isService: false });
  if (problems.length > 0) throw new ConfigError(problems);
  const [logins, brokerUsers] = [loginsOf(config), brokerUsersOf(config)];
  const transport = openTransport(config, log);
  const { BATON_NAMESPACE: namespace } = config;
  if (brokerUsers) await ensureBrokerUsers(brokerUsers, { namespace, trust: transport.servers, log });
  await migrateAll({
    url: config.DATABASE_URL.expose(),
    trust: transport.servers,
    mainDir: dirname(require.main?.filename ?? __filename),
    log,
    hasRowSecurity: config.BATON_ROW_SECURITY === 'on',
    logins,
  }).finally(transport.close);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`migrate: ${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
  log.error({ err: error }, 'migrations failed');
  process.exit(1);
});
