import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { ensureLogins, giveSchema, runMigrations, type ServiceLogin } from '@baton/postgres';
import { schemaOf, type Transport } from '@baton/service-runtime';

/** The owner of each PostgreSQL schema. */
export type Logins = ReadonlyMap<string, ServiceLogin>;

export interface MigrateOptions {
  /** Address of the user that creates schemas and roles; no service gets it. */
  url: string;
  /** Authorities to trust where `sslmode` in the address asks for TLS. */
  trust?: Transport['servers'];
  mainDir: string;
  log: Log;
  hasRowSecurity: boolean;
  /** Null: the user of `url` owns every schema. */
  logins: Logins | null;
}

/**
 * Folders of migrations: of the bundle (dist/apps/standalone -> dist/migrations) or of the sources (services/<name>/migrations).
 */
export function migrationFolders(mainDir: string): { service: ServiceName; dir: string }[] {
  const bundled = join(mainDir, '../../migrations');
  const sources = join(mainDir, '../../../services');
  const isBundled = existsSync(bundled);
  const base = isBundled ? bundled : sources;
  return readdirSync(base)
    .map((name) => ({
      service: name as ServiceName,
      dir: isBundled ? join(base, name) : join(base, name, 'migrations'),
    }))
    .filter(({ dir }) => existsSync(dir));
}

/** Creates the roles of the services and migrates every service's schema, one after the other. */
export async function migrateAll(o: MigrateOptions): Promise<void> {
  const { url, trust, log, hasRowSecurity, logins } = o;
  if (logins) await ensureLogins({ url, trust }, [...logins.values()], log);
  else
    log.warn({}, 'BATON_DATABASE_ROLES=off: the services share one database user, who reaches all schemas');
  const migrated = new Set<string>();
  for (const { service, dir } of migrationFolders(o.mainDir)) {
    const schema = schemaOf(service);
    if (!schema) continue;
    migrated.add(schema);
    const login = logins?.get(schema);
    await runMigrations({ url, trust, schema, dir, log, hasRowSecurity, login });
  }
  // Schemas without migrations (the broker's): their owner creates their tables.
  for (const [schema, login] of logins ?? [])
    if (!migrated.has(schema)) await giveSchema({ url, trust }, schema, login);
}
