import { setTimeout } from 'node:timers/promises';
import type { Envelope } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type pg from 'pg';

export interface ExpressDeps {
  db: { pool: pg.Pool };
  /** Resolves when the broker has them all, or they are handled. */
  handOver: (envelopes: Envelope[]) => Promise<void>;
  log: Log;
}

/** Messages on their way from memory at a time; what comes beyond that waits in the outbox for its batch. */
const MAX_EXPRESS = 1_000;
/** How long rows of messages that were handed over may wait for those of others, which are deleted with them. */
const GATHER_MS = 20;
/** Handed over from memory. That a crash of the server forgets it only sends a message twice: no wait for the disk. */
const DONE = {
  name: 'outbox-done',
  text: `with quick as (select set_config('synchronous_commit', 'off', true))
    delete from outbox using quick where id = any($1::uuid[])`,
};

/**
 * The way of messages that this process has just committed: handed over from memory, their rows deleted afterwards.
 * `onFailure`: they stay in the outbox and are to be claimed.
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
      // They are sent once more, by a batch.
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
    /** False: too many are under way. */
    take(envelopes: readonly Envelope[]): boolean {
      if (underWay.size + envelopes.length > MAX_EXPRESS) return false;
      const work = send(envelopes).finally(() => works.delete(work));
      works.add(work);
      return true;
    },
    settled: async () => void (await Promise.all(works)),
  };
}
