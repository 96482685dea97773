import { randomBytes } from 'node:crypto';
import { databaseOf, loginName, type ServiceLogin, withLogin } from '@baton/postgres';
import { schemaOf } from '@baton/service-runtime';
import type { Logins } from './migrate';
import { services } from './services';

/** Schema of the broker's tables; the broker has its own login. */
const BROKER = 'broker';

/**
 * Returns a role for each service of this process and for the broker, with passwords that exist only in its memory: each start sets
 * new ones. So one database serves one standalone at a time.
 */
export function newLogins(databaseUrl: string): Logins {
  const database = databaseOf(databaseUrl);
  const schemas = services.flatMap(({ serviceName }) => schemaOf(serviceName) ?? []);
  return new Map(
    [...schemas, BROKER].map((schema): [string, ServiceLogin] => [
      schema,
      { role: loginName(database, schema), password: randomBytes(24).toString('base64url') },
    ]),
  );
}

/** Returns the database address of the owner of `schema`; null: a service without a schema gets no database. */
export function urlFor(databaseUrl: string, logins: Logins | null, schema: string | null): string | null {
  if (schema === null) return null;
  const login = logins?.get(schema);
  return login ? withLogin(databaseUrl, login) : databaseUrl;
}

export const brokerUrl = (databaseUrl: string, logins: Logins | null): string =>
  urlFor(databaseUrl, logins, BROKER)!;
