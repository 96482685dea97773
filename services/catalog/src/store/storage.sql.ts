import { AppError } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

/** Bytes of a tenant's blueprints, plugins and written files; content that two of them share counts twice. */
export interface TenantStorage {
  blueprints: number;
  plugins: number;
  files: number;
}

/** Returns the tenant's storage. Hidden copies of blueprints are not counted: they share the archive of another blueprint. */
export async function storageOf(db: Db<DB>['query'] | Tx<DB>, tenant: string): Promise<TenantStorage> {
  const { rows } = await sql<TenantStorage>`select
    (select coalesce(sum(archive_size), 0) from blueprints where tenant = ${tenant} and not is_hidden)::float8 as blueprints,
    (select coalesce(sum(wagon_size + coalesce(archive_size, 0)), 0) from plugins where tenant = ${tenant})::float8 as plugins,
    (select coalesce(sum(bytes), 0) from file_folders where tenant = ${tenant})::float8 as files`.execute(db);
  return rows[0]!;
}

/**
 * Checks the storage limit. Call it last in a transaction that has added something: the sum includes the addition. `limit` in
 * bytes; null: no limit, which costs nothing. Additions of one tenant wait for each other's commit, so that two cannot use the same
 * free space.
 * @throws AppError insufficient_storage_error naming usage and limit
 */
export async function requireStorage(tx: Tx<DB>, tenant: string, limit: number | null): Promise<void> {
  if (limit === null || tenant === '') return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`storage of ${tenant}`}, 0))`.execute(tx);
  // A separate statement: it sees the commits made while the lock was waited for.
  const { blueprints, plugins, files } = await storageOf(tx, tenant);
  const usage = blueprints + plugins + files;
  if (usage <= limit) return;
  throw new AppError(
    'insufficient_storage_error',
    `Tenant \`${tenant}\` may keep ${limit} bytes of blueprints, plugins and files, and would have ${usage}; delete some, or an administrator raises max_storage_bytes with PUT /tenants/${tenant}/quota`,
    { quota: 'storage', tenant, usage, limit, expected: `at most ${limit} bytes` },
  );
}
