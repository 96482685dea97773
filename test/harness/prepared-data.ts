/** Data of the embedded PostgreSQL after a first start, made once and copied for each standalone of the tests. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../apps/standalone/src/embedded-postgres';
import { migrationEnv, serviceDatabaseUrls } from './database-logins';

const PREFIX = 'baton-prepared-';
const DAY_MS = 86_400_000;

/**
 * Puts a migrated data folder into the home, which saves a first start most of its work: initdb and all migrations. Keys and users
 * are not in it: the manager makes its own, as on any first start. `dist`: folder of the bundles whose migrations count.
 */
export async function fillHome(home: string, dist: string, migrate: Migrate): Promise<void> {
  const prepared = await preparedData(dist, migrate);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await promisify(execFile)('cp', ['-a', '--reflink=auto', prepared, join(home, 'postgres')]);
}

/** Migrates the database with the logins in the environment. */
type Migrate = (environment: Record<string, string>) => Promise<void>;

/** Returns the folder; the first caller makes it. Several processes may do so at once: the last complete folder is as good. */
async function preparedData(dist: string, migrate: Migrate): Promise<string> {
  const folder = join(tmpdir(), `${PREFIX}${process.getuid?.() ?? 0}-${digestOf(dist)}`);
  if (statSync(folder, { throwIfNoEntry: false })) return folder;
  removeOld();
  const draft = mkdtempSync(join(tmpdir(), `${PREFIX}draft-`));
  chmodSync(draft, 0o700);
  try {
    const dataDir = join(draft, 'postgres');
    const server = await startEmbeddedPostgres({ dataDir });
    try {
      await migrate({ DATABASE_URL: server.url, ...migrationEnv(serviceDatabaseUrls(server.url)) });
    } finally {
      await server.stop();
    }
    renameSync(dataDir, folder);
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Identifies the migrations and the program that applies them. */
function digestOf(dist: string): string {
  const hash = createHash('sha256').update(readFileSync(join(dist, 'apps/standalone/migrate.main.js')));
  const migrations = join(dist, 'migrations');
  const files = readdirSync(migrations, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`${file.slice(dist.length)}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** Removes folders of earlier builds, and drafts of runs that were ended. */
function removeOld(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(tmpdir(), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}
