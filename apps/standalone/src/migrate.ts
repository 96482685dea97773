import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { runMigrations } from '@baton/postgres';
import { schemaOf, type Transport } from '@baton/service-runtime';

/** Of the bundle (dist/apps/standalone -> dist/migrations) and of the sources (services/<name>/migrations). */
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

/** Brings every service's schema up to date, one after the other. */
export async function migrateAll(
  url: string,
  mainDir: string,
  log: Log,
  hasRowSecurity: boolean,
  transport?: Transport,
): Promise<void> {
  for (const { service, dir } of migrationFolders(mainDir)) {
    const schema = schemaOf(service);
    if (schema) await runMigrations({ url, trust: transport?.servers, schema, dir, log, hasRowSecurity });
  }
}
