import { setTimeout } from 'node:timers/promises';
import type { Envelope } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type pg from 'pg';

export interface ExpressDeps {
  db: { pool: pg.Pool };
  /** Resolves when the broker has all of them, or when they are handled. */
  handOver: (envelopes: Envelope[]) => Promise<void>;
  log: Log;
}

/** Most messages on their way from memory at a time; further ones wait in the outbox for their batch. */
const MAX_EXPRESS = 1_000;
/** How long rows of handed-over messages may wait for further ones, to be deleted with them in one statement. */
const GATHER_MS = 20;
/**
 * Deletes rows of handed-over messages. The commit does not wait for the disk: a delete lost in a crash of the server only sends a
 * message twice.
 */
const DONE = {
  name: 'outbox-done',
  text: `with quick as (select set_config('synchronous_commit', 'off', true))
    delete from outbox using quick where id = any($1::uuid[])`,
};

/**
 * Sends messages that this process has just committed directly from memory; their rows are deleted afterwards. `onFailure` is
 * called when messages stay in the outbox and have to be claimed.
 */
export function createExpress({ db, handOver, log }: ExpressDeps, onFailure: () => void) {
  const underWay = new Set<string>();
  const works = new Set<Promise<void>>();
  let published: string[] = [];
  let isDeleting = false;

  const forgetPublished = async (): Promise<void> => {
    if (isDeleting) return;
    isDeleting = true;
    try {
      while (published.length > 0) {
        await setTimeout(GATHER_MS);
        const ids = published;
        published = [];
        try {
          await db.pool.query({ ...DONE, values: [ids] });
        } finally {
          for (const id of ids) underWay.delete(id);
        }
      }
    } catch (error) {
      // The messages are sent once more, by a batch.
      log.warn({ error: (error as Error).message }, 'outbox relay failed');
    } finally {
      isDeleting = false;
    }
  };
  const send = async (envelopes: readonly Envelope[]): Promise<void> => {
    const ids = envelopes.map(({ id }) => id);
    for (const id of ids) underWay.add(id);
    try {
      await handOver([...envelopes]);
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'messages stay in the outbox');
      for (const id of ids) underWay.delete(id);
      return onFailure();
    }
    published.push(...ids);
    await forgetPublished();
  };
  return {
    ids: () => underWay,
    /** Returns false when too many messages are under way. */
    take(envelopes: readonly Envelope[]): boolean {
      if (underWay.size + envelopes.length > MAX_EXPRESS) return false;
      const work = send(envelopes).finally(() => works.delete(work));
      works.add(work);
      return true;
    },
    settled: async () => void (await Promise.all(works)),
  };
}
