import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Statement } from '../baseline/bare-server';
import { benchRoot } from './child';

export interface SeenSql {
  statements: number;
  /** By the first words. */
  texts: Record<string, { count: number; ms: number }>;
  selects: Statement[];
}

/** The other side of watch-sql.cjs. */
export interface SqlWatch {
  env: Record<string, string>;
  /** What the process has sent so far. @throws Error when it does not answer. */
  read(pid: number): Promise<SeenSql>;
  close(): void;
}

export function watchSql(kind: 'count' | 'selects'): SqlWatch {
  const dir = mkdtempSync(join(tmpdir(), 'baton-bench-sql-'));
  const reads = new Map<number, number>();
  return {
    env: {
      NODE_OPTIONS: `--require ${join(benchRoot, 'harness/watch-sql.cjs')}`,
      BENCH_SQL: kind,
      BENCH_SQL_DIR: dir,
    },
    async read(pid) {
      const nth = (reads.get(pid) ?? 0) + 1;
      reads.set(pid, nth);
      const file = join(dir, `${pid}-${nth}.json`);
      process.kill(pid, 'SIGUSR2');
      for (let i = 0; i < 200 && !existsSync(file); i++) await pause(25);
      return JSON.parse(readFileSync(file, 'utf8')) as SeenSql;
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
