import type { RabbitLogin } from '@baton/broker';
import { managerServices, type ServiceName } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import { loginOf, type ServiceLogin } from '@baton/postgres';
import { ConfigError, type ConfigOf, envValue, runtimeConfig, schemaOf } from '@baton/service-runtime';
import { z } from 'zod';
import type { Logins } from './migrate';

const ofService = (service: ServiceName) =>
  envValue
    .secret()
    .optional()
    .describe(`DATABASE_URL of ${service}: its user is made, or gets this password, and owns the schema`);

const atBroker = (service: ServiceName) =>
  envValue
    .secret()
    .optional()
    .describe(
      `AMQP_URL of ${service}: its user is made, or gets this password, and may do what that service needs`,
    );

const transport = runtimeConfig.pick({
  BATON_NAMESPACE: true,
  BATON_TLS: true,
  BATON_TLS_CA_FILE: true,
  BATON_TLS_CERT_FILE: true,
  BATON_TLS_KEY_FILE: true,
  BATON_SERVERS_CA_FILE: true,
}).shape;

/** The configuration of the migration job. */
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
  BATON_RABBITMQ_API_URL: envValue
    .secret()
    .optional()
    .describe(
      'Management API of RabbitMQ with the login of an administrator, `http://user:password@host:15672`: exchanges, queues and a user for each service are made; absent: nothing is done there',
    ),
  BATON_AMQP_URL_GATEWAY: atBroker('gateway'),
  BATON_AMQP_URL_IDENTITY: atBroker('identity'),
  BATON_AMQP_URL_CATALOG: atBroker('catalog'),
  BATON_AMQP_URL_DEPLOYMENTS: atBroker('deployments'),
  BATON_AMQP_URL_EXECUTIONS: atBroker('executions'),
  BATON_AMQP_URL_SECRETS: atBroker('secrets'),
  BATON_AMQP_URL_CLUSTER_STATUS: atBroker('cluster-status'),
  BATON_AMQP_URL_WORKER: atBroker('worker'),
});

const WITH_SCHEMA = managerServices.filter((service) => schemaOf(service) !== null);

/** Returns the owner of each schema; null: the migrating user owns all of them. @throws ConfigError */
export function loginsOf(config: ConfigOf<typeof migrateConfig>): Logins | null {
  if (config.BATON_DATABASE_ROLES === 'off') return null;
  const logins = new Map<string, ServiceLogin>();
  const problems: string[] = [];
  for (const service of WITH_SCHEMA) {
    const name = variableOf('BATON_DATABASE_URL', service) as keyof typeof config;
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

const variableOf = (kind: string, service: ServiceName): string =>
  `${kind}_${service.toUpperCase().replace('-', '_')}`;

/** The users that RabbitMQ is to have; null: RabbitMQ is not changed. */
export interface BrokerUsers {
  apiUrl: Secret;
  vhost: string;
  logins: RabbitLogin[];
}

/** Returns the RabbitMQ users of the services. @throws ConfigError */
export function brokerUsersOf(config: ConfigOf<typeof migrateConfig>): BrokerUsers | null {
  const { BATON_RABBITMQ_API_URL: apiUrl } = config;
  if (!apiUrl) return null;
  const problems: string[] = [];
  const isSafe = config.BATON_TLS !== 'required' || apiUrl.expose().startsWith('https:');
  if (!isSafe) problems.push('BATON_RABBITMQ_API_URL: must begin with https:// (BATON_TLS=required)');
  const logins: RabbitLogin[] = [];
  const vhosts = new Set<string>();
  for (const service of [...managerServices, 'worker'] as const) {
    const name = variableOf('BATON_AMQP_URL', service);
    const url = config[name as keyof typeof config] as Secret | undefined;
    const parsed = url && URL.canParse(url.expose()) ? new URL(url.expose()) : null;
    if (!parsed?.username || !parsed.password) {
      problems.push(
        `${name} must be an address of RabbitMQ with user and password (BATON_RABBITMQ_API_URL is given)`,
      );
      continue;
    }
    vhosts.add(decodeURIComponent(parsed.pathname.slice(1)) || '/');
    const password = new Secret(decodeURIComponent(parsed.password));
    logins.push({ service, user: decodeURIComponent(parsed.username), password });
  }
  if (vhosts.size > 1) problems.push('BATON_AMQP_URL_*: all services must use one virtual host');
  if (new Set(logins.map(({ user }) => user)).size < logins.length)
    problems.push('BATON_AMQP_URL_*: each service needs a user of its own');
  if (problems.length > 0) throw new ConfigError(problems);
  return { apiUrl, vhost: [...vhosts][0]!, logins };
}
