import { readdirSync } from 'node:fs';
import type { ServiceName } from '@baton/contracts';
import { schemaOf, type Transport } from '@baton/service-runtime';
import { postgresConnection } from '@baton/tls';
import pg from 'pg';
import { StartRefused } from './refusal';

const CONNECT_LIMIT_MS = 10_000;

/** `trust`: authorities to trust where `sslmode` in the address asks for TLS. */
interface DatabaseAddress {
  url: string;
  trust: Transport['servers'];
}

/** SQLSTATE of a refused login -> reason. */
const REFUSALS: Record<string, (user: string, database: string) => string> = {
  '28P01': (user) => `it refuses the password of ${user}`,
  '28000': (user) => `it does not let ${user} in`,
  '3D000': (_, database) => `it has no database ${database}`,
  '53300': () => 'it has no connection left',
};
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  ECONNRESET: 'the connection was cut',
};

/**
 * Checks the given database before anything is started on it: it must answer, and its data must not come from a newer release.
 * @throws StartRefused in one sentence, without the password.
 */
export async function checkDatabase(
  address: DatabaseAddress,
  folders: readonly { service: ServiceName; dir: string }[],
): Promise<void> {
  const client = connectionOf(address);
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    throw unreachable(address.url, error as NodeJS.ErrnoException);
  }
  try {
    await refuseNewerData(client, folders);
  } finally {
    await client.end();
  }
}

function connectionOf({ url, trust }: DatabaseAddress): pg.Client {
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new Error('another scheme');
    return new pg.Client({
      ...postgresConnection(url, trust),
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      application_name: 'baton-start',
    });
  } catch (error) {
    throw new StartRefused(
      'DATABASE_URL is no address such as postgres://user:password@host:5432/baton.',
      78,
      {
        cause: error,
      },
    );
  }
}

function unreachable(url: string, error: NodeJS.ErrnoException): StartRefused {
  const { hostname, port, username, pathname } = new URL(url);
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  const code = error.code ?? (error as { errors?: { code?: string }[] }).errors?.[0]?.code ?? '';
  const refused = REFUSALS[code]?.(user, database);
  const reason = refused ?? UNREACHABLE[code] ?? error.message;
  const where = `${hostname || '127.0.0.1'}:${port || '5432'}`;
  return new StartRefused(
    `The database at ${where} (DATABASE_URL) cannot be used: ${reason}.`,
    refused ? 78 : 1,
    {
      cause: error,
    },
  );
}

/** A later release only adds migrations: names that this release does not have come from a later one. */
async function refuseNewerData(
  client: pg.Client,
  folders: readonly { service: ServiceName; dir: string }[],
): Promise<void> {
  for (const { service, dir } of folders) {
    const schema = schemaOf(service);
    if (!schema) continue;
    const table = `"${schema}".schema_migrations`;
    const { rows: found } = await client.query('select to_regclass($1) is not null as is_there', [table]);
    if (!found[0].is_there) continue;
    const known = new Set(readdirSync(dir).map((file) => file.replace(/\.sql$/, '')));
    const { rows } = await client.query<{ name: string }>(`select name from ${table} order by name`);
    const foreign = rows.map(({ name }) => name).filter((name) => !known.has(name));
    if (foreign.length > 0)
      throw new StartRefused(
        `The data were made by a newer release of Baton (${service} has ${foreign.join(', ')}, which this one does not ` +
          'know): start that release, or restore a backup from before the upgrade.',
        78,
      );
  }
}
