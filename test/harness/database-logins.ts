import { randomBytes } from 'node:crypto';
import { managerServices } from '@baton/contracts';
import { databaseOf, loginName, withLogin } from '@baton/postgres';
import { schemaOf } from '@baton/service-runtime';

const WITH_DATABASE = managerServices.filter((service) => schemaOf(service) !== null);

/** Address of the database for each service that has one, as a user of its own: what compose and Kubernetes keep as secrets. */
export function serviceDatabaseUrls(databaseUrl: string): Record<string, string> {
  const database = databaseOf(databaseUrl);
  return Object.fromEntries(
    WITH_DATABASE.map((service) => [
      service,
      withLogin(databaseUrl, {
        role: loginName(database, schemaOf(service)!),
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
