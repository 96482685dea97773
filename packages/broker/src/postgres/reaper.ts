import { type Log, newId } from '@baton/kernel';
import type pg from 'pg';
import { MAX_CRASHES } from '../topology';
import type { Statements } from './statements';

const EVERY_MS = 4_000;
const REASON = 'its consumers died with it too often';

/** Frees, on every process, the messages of sessions that ended without giving them back. Only one run at a time. */
export function startReaper({ pool, sql, log }: { pool: pg.Pool; sql: Statements; log: Log }): {
  tickOnce(): Promise<number>;
  stop(): void;
} {
  let isRunning = false;
  const tickOnce = async (): Promise<number> => {
    const { rows } = await pool.query<{ id: string; queue: string; is_hopeless: boolean }>(sql.reap, [
      MAX_CRASHES,
    ]);
    if (rows.length === 0) return 0;
    log.warn({ messages: rows.length }, 'messages of dead consumers will be delivered again');
    // After a crash here, the next claim delivers such a message once more, and the next reap counts again.
    for (const row of rows) if (row.is_hopeless) await pool.query(sql.parkFree, [row.id, newId(), REASON]);
    await pool.query(sql.wake, [[...new Set(rows.map((row) => row.queue))]]);
    return rows.length;
  };
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    tickOnce()
      .catch((error: Error) => log.debug({ error: error.message }, 'reaper failed'))
      .finally(() => {
        isRunning = false;
      });
  }, EVERY_MS).unref();
  return { tickOnce, stop: () => clearInterval(timer) };
}
