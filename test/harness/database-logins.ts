import { randomBytes } from 'node:crypto';
import { databaseOf, loginName, withLogin } from '@baton/postgres';

const WITH_DATABASE = ['identity', 'secrets', 'catalog', 'deployments', 'executions', 'cluster-status'];

/** Address of the database for each service that has one, as a user of its own: what compose and Kubernetes keep as secrets. */
export function serviceDatabaseUrls(databaseUrl: string): Record<string, string> {
  const database = databaseOf(databaseUrl);
  return Object.fromEntries(
    WITH_DATABASE.map((service) => [
      service,
      withLogin(databaseUrl, {
        role: loginName(database, service.replace('-', '_')),
        password: randomBytes(12).toString('hex'),
      }),
    ]),
  );
}

/** What the job that migrates is given beside the address of the owner. */
export const migrationEnv = (urls: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(urls).map(([service, url]) => [
      `BATON_DATABASE_URL_${service.toUpperCase().replace('-', '_')}`,
      url,
    ]),
  );
