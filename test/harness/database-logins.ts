import { randomBytes } from 'node:crypto';
import { managerServices } from '@baton/contracts';
import { databaseOf, loginName, withLogin } from '@baton/postgres';
import { schemaOf } from '@baton/service-runtime';

const WITH_DATABASE = managerServices.filter((service) => schemaOf(service) !== null);

/**
 * Returns the database address for each service with a database, each with its own user, like the secrets of compose and
 * Kubernetes.
 */
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

/** Returns the environment of the migration job, besides the address of the owner. */
export const migrationEnv = (urls: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(urls).map(([service, url]) => [
      `BATON_DATABASE_URL_${service.toUpperCase().replace('-', '_')}`,
      url,
    ]),
  );
