import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { benchRoot } from './child';

/** A statement as it was sent; with a name it is a prepared one. */
export interface SentStatement {
  connection: number;
  /** The service that owns the connection, by its schema. */
  schema: string;
  name?: string;
  text: string;
  values: unknown[];
}

export interface SeenSql {
  statements: number;
  /** Counts by the first words of the statement. */
  texts: Record<string, { count: number; ms: number }>;
  /** Statements since the last reading. */
  all: SentStatement[];
}

/** Counterpart of watch-sql.cjs. */
export interface SqlWatch {
  env: Record<string, string>;
  /** Returns the statements of the process so far. @throws Error when it does not answer */
  read(pid: number): Promise<SeenSql>;
  /** Removes the watch from these processes. */
  end(pids: readonly number[]): Promise<void>;
  close(): void;
}

export function watchSql(kind: 'count' | 'all'): SqlWatch {
  const dir = mkdtempSync(join(tmpdir(), 'baton-bench-sql-'));
  const reads = new Map<number, number>();
  const read = async (pid: number): Promise<SeenSql> => {
    const nth = (reads.get(pid) ?? 0) + 1;
    reads.set(pid, nth);
    const file = join(dir, `${pid}-${nth}.json`);
    process.kill(pid, 'SIGUSR2');
    for (let i = 0; i < 200 && !existsSync(file); i++) await pause(25);
    return JSON.parse(readFileSync(file, 'utf8')) as SeenSql;
  };
  return {
    env: {
      NODE_OPTIONS: `--require ${join(benchRoot, 'harness/watch-sql.cjs')}`,
      BENCH_SQL: kind,
      BENCH_SQL_DIR: dir,
    },
    read,
    async end(pids) {
      writeFileSync(join(dir, 'off'), '');
      for (const pid of pids) await read(pid);
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
