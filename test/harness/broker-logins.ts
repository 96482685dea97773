import { randomBytes } from 'node:crypto';
import { managerServices } from '@baton/contracts';

/** Returns the address of RabbitMQ for each service, each with its own user, like the secrets of compose and Kubernetes. */
export function serviceBrokerUrls(amqpUrl: string): Record<string, string> {
  return Object.fromEntries(
    [...managerServices, 'worker'].map((service) => {
      const url = new URL(amqpUrl);
      [url.username, url.password] = [`baton-${service}`, randomBytes(12).toString('hex')];
      return [service, url.href];
    }),
  );
}

/** Returns the environment of the migration job, besides the address of the management API. */
export const brokerMigrationEnv = (urls: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(urls).map(([service, url]) => [
      `BATON_AMQP_URL_${service.toUpperCase().replace('-', '_')}`,
      url,
    ]),
  );
