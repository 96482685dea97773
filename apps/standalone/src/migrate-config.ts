import { managerServices, type ServiceName } from '@baton/contracts';
import { loginOf, type ServiceLogin } from '@baton/postgres';
import { ConfigError, type ConfigOf, envValue, runtimeConfig, schemaOf } from '@baton/service-runtime';
import { z } from 'zod';
import type { Logins } from './migrate';

const ofService = (service: ServiceName) =>
  envValue
    .secret()
    .optional()
    .describe(`DATABASE_URL of ${service}: its user is made, or gets this password, and owns the schema`);

const transport = runtimeConfig.pick({
  BATON_TLS: true,
  BATON_TLS_CA_FILE: true,
  BATON_TLS_CERT_FILE: true,
  BATON_TLS_KEY_FILE: true,
  BATON_SERVERS_CA_FILE: true,
}).shape;

/** What the job that migrates reads. */
export const migrateConfig = z.object({
  ...transport,
  DATABASE_URL: envValue
    .secret()
    .describe('PostgreSQL as the user that owns the database and may make roles; no service is given it'),
  BATON_ROW_SECURITY: z.enum(['on', 'off']).default('on').describe('As in the services'),
  BATON_DATABASE_ROLES: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'A login role for each service, that owns its schema and reaches no other; off where roles cannot be made: all services share the user of DATABASE_URL',
    ),
  BATON_DATABASE_URL_IDENTITY: ofService('identity'),
  BATON_DATABASE_URL_CATALOG: ofService('catalog'),
  BATON_DATABASE_URL_DEPLOYMENTS: ofService('deployments'),
  BATON_DATABASE_URL_EXECUTIONS: ofService('executions'),
  BATON_DATABASE_URL_SECRETS: ofService('secrets'),
  BATON_DATABASE_URL_CLUSTER_STATUS: ofService('cluster-status'),
});

const WITH_SCHEMA = managerServices.filter((service) => schemaOf(service) !== null);

/** Who is to own which schema; null: all of them the user that migrates. @throws ConfigError */
export function loginsOf(config: ConfigOf<typeof migrateConfig>): Logins | null {
  if (config.BATON_DATABASE_ROLES === 'off') return null;
  const logins = new Map<string, ServiceLogin>();
  const problems: string[] = [];
  for (const service of WITH_SCHEMA) {
    const name = `BATON_DATABASE_URL_${service.toUpperCase().replace('-', '_')}` as keyof typeof config;
    const url = config[name];
    if (typeof url !== 'object') {
      problems.push(`${name} is missing (the services share one user only with BATON_DATABASE_ROLES=off)`);
      continue;
    }
    try {
      logins.set(schemaOf(service)!, loginOf(url.expose()));
    } catch {
      problems.push(`${name}: must be a URL of PostgreSQL that names a user`);
    }
  }
  const roles = new Set([...logins.values()].map(({ role }) => role));
  if (roles.size < logins.size) problems.push('BATON_DATABASE_URL_*: each service needs a user of its own');
  if (problems.length > 0) throw new ConfigError(problems);
  return logins;
}
