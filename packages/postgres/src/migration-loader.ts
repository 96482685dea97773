import { readFile } from 'node:fs/promises';
import type { MigrationBuilder } from 'node-pg-migrate';

/** A migration file in the form that node-pg-migrate takes. */
export interface LoadedMigration {
  id: string;
  filePaths: string[];
  actions: { up: (pgm: MigrationBuilder) => void; down: false };
}

/** `-- expand, without transaction` in the first line (docs/checklists/new-table.md). */
const WITHOUT_TRANSACTION = /^-- (expand|contract), without transaction\b/;
const CONCURRENT_INDEX =
  /^\s*create (?:unique )?index concurrently (?:if not exists )?("?[a-z_][a-z0-9_]*"?)/im;

/**
 * Reads migration files. A file with the mark `, without transaction` runs outside a transaction, because PostgreSQL builds and
 * drops indexes concurrently only there. A build that was broken off leaves an invalid index; that index is dropped first.
 */
export async function loadMigrations(paths: string[]): Promise<LoadedMigration[]> {
  return await Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, 'utf8');
      return {
        id: path,
        filePaths: [path],
        actions: { up: (pgm: MigrationBuilder) => write(pgm, text), down: false as const },
      };
    }),
  );
}

function write(pgm: MigrationBuilder, text: string): void {
  if (WITHOUT_TRANSACTION.test(text)) {
    pgm.noTransaction();
    const index = CONCURRENT_INDEX.exec(text)?.[1];
    if (index !== undefined) pgm.sql(`drop index concurrently if exists ${index}`);
  }
  pgm.sql(text);
}
