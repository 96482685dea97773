import { randomBytes } from 'node:crypto';
import { managerServices } from '@baton/contracts';

/** Address of RabbitMQ for each service, as a user of its own: what compose and Kubernetes keep as secrets. */
export function serviceBrokerUrls(amqpUrl: string): Record<string, string> {
  return Object.fromEntries(
    [...managerServices, 'worker'].map((service) => {
      const url = new URL(amqpUrl);
      [url.username, url.password] = [`baton-${service}`, randomBytes(12).toString('hex')];
      return [service, url.href];
    }),
  );
}

/** What the job that migrates is given beside the address of the management API. */
export const brokerMigrationEnv = (urls: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(urls).map(([service, url]) => [
      `BATON_AMQP_URL_${service.toUpperCase().replace('-', '_')}`,
      url,
    ]),
  );
