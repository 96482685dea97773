import type { ImportClient } from '@baton/import-part';
import type { Tx } from '@baton/postgres';
import { Kysely, PostgresDialect } from 'kysely';
import type { DB } from '../store/tables.gen';

/** The statements of store/ over the transaction of an import, which is none of `db.tx`: statements that note changes refuse it. */
export function sessionQuery(client: ImportClient): Tx<DB> {
  const only = { query: client.query.bind(client), release: () => undefined } as unknown as ImportClient;
  const pool = { connect: async () => only, end: async () => undefined };
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) }) as unknown as Tx<DB>;
}
