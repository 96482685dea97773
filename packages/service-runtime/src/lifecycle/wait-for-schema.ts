/** A separate job runs migrations once; a service only waits until its schema is there. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, type Log, systemClock } from '@baton/kernel';
import type { Db } from '@baton/postgres';

/** Returns the folder of migrations, for bundles (dist/services/<name>/main.js) and for sources (services/<name>/src/main.ts). */
export function migrationsDir(service: string, mainFile: string): string | null {
  const here = dirname(mainFile);
  const candidates = [join(here, '../../migrations', service), join(here, '../migrations')];
  return candidates.find((dir) => existsSync(dir)) ?? null;
}

async function missingNames(db: Db<any>, schema: string, expected: readonly string[]): Promise<string[]> {
  const { rows } = await db.pool.query(`select name from "${schema}".schema_migrations`);
  const applied = new Set(rows.map((row: { name: string }) => row.name));
  return expected.filter((name) => !applied.has(name));
}

/**
 * Resolves when every migration file in `dir` has been applied.
 * @throws AppError service_unavailable_error, which names the missing migrations, after `limitMs`
 */
export async function waitForSchema(
  db: Db<any>,
  o: { schema: string; dir: string; limitMs: number; log: Log; pollMs?: number },
): Promise<void> {
  const expected = (await readdir(o.dir))
    .filter((f) => f.endsWith('.sql'))
    .map((f) => f.slice(0, -'.sql'.length))
    .sort();
  const until = systemClock.monotonic() + o.limitMs;
  for (let tries = 0; ; tries++) {
    let lack: string;
    try {
      const missing = await missingNames(db, o.schema, expected);
      if (missing.length === 0) return;
      lack = `migrations not applied: ${missing.join(', ')}`;
    } catch (error) {
      lack = (error as Error).message;
    }
    if (systemClock.monotonic() >= until)
      throw new AppError('service_unavailable_error', `schema ${o.schema} is not ready: ${lack}`);
    if (tries === 0) o.log.info({ schema: o.schema, lack }, 'waiting for the schema');
    await new Promise((resolve) => setTimeout(resolve, o.pollMs ?? 300));
  }
}
