import { envValue } from '@baton/service-runtime';
import { z } from 'zod';

/** The standalone's own configuration; the services in it read their own variables as well. */
export const standaloneConfig = z.object({
  BATON_PORT: envValue
    .integer(0, 65535)
    .prefault('8080')
    .describe('Port of the API, its documents and the console'),
  BATON_HOST: z.string().default('127.0.0.1').describe('Address that is listened on'),
  BATON_HOME: z
    .string()
    .optional()
    .describe("Folder of the standalone's data; default .baton in the user's home"),
  BATON_ADMIN_PASSWORD: envValue
    .secret()
    .optional()
    .describe('Password of admin at first start; absent: one is generated'),
  BATON_BUNDLED_PLUGINS: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Upload the plugins that come with Baton, at the first start and after each upgrade'),
  BATON_WORKERS: envValue.integer(0, 16).prefault('1').describe('Worker processes beside the manager'),
  BATON_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('warn')
    .describe('Least level that is logged'),
  DATABASE_URL: envValue.secret().optional().describe('PostgreSQL to use instead of the embedded one'),
  BATON_DATABASE_ROLES: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'A login role for each service in the database; off where the user of DATABASE_URL may not make roles',
    ),
  AMQP_URL: envValue.secret().optional().describe('RabbitMQ to use instead of the broker in PostgreSQL'),
  REDIS_URL: envValue.secret().optional().describe('Redis to use instead of the cache in the process'),
});
export type StandaloneConfig = z.infer<typeof standaloneConfig>;
