import { AsyncResource } from 'node:async_hooks';

/**
 * Reads of one thing each that are asked for at the same moment share one statement: with sixteen clients that costs the
 * driver and the database a fraction of as many statements, and a client who is alone waits for nobody. Nothing is kept: a
 * statement begins after all of its questions were asked. So writes may go together as well, where repeating one is harmless.
 */
export interface Gathered<Ask, Found> {
  /**
   * The answer to `ask`; null when there is none. Only questions of one `group` go together: it names everything that
   * decides what may be seen, for the statement runs as the request that asked first.
   */
  read(group: string, ask: Ask): Promise<Found | null>;
}

interface Waiting<Ask, Found> {
  ask: Ask;
  /** As which request a statement runs that begins with this question. */
  asker: AsyncResource | null;
  resolve(found: Found | null): void;
  reject(error: unknown): void;
}

interface Group<Ask, Found> {
  waiting: Waiting<Ask, Found>[];
  running: number;
  isScheduled: boolean;
}

type Run<Ask, Found> = (asks: readonly Ask[]) => Promise<readonly (Found | null)[]>;

/** Statements of a group under way at a time: while one is carried out, the answers of the other are sent. */
const MAX_STATEMENTS = 2;
const MAX_ASKS = 50;

/** @param run answers questions of one group in their order; when it fails, all of them fail. */
export function gather<Ask, Found>(run: Run<Ask, Found>): Gathered<Ask, Found> {
  const groups = new Map<string, Group<Ask, Found>>();

  const pump = (name: string, group: Group<Ask, Found>): void => {
    group.isScheduled = false;
    while (group.waiting.length > 0 && group.running < MAX_STATEMENTS) {
      const batch = group.waiting.splice(0, MAX_ASKS);
      group.running++;
      void batch[0]!.asker!.runInAsyncScope(answer, null, run, batch).then(() => {
        group.running--;
        schedule(name, group);
      });
    }
    if (group.running === 0) groups.delete(name);
  };
  // After this turn of the loop: what came in with it goes together.
  const schedule = (name: string, group: Group<Ask, Found>): void => {
    if (group.isScheduled) return;
    group.isScheduled = true;
    setImmediate(pump, name, group);
  };
  return {
    read: (name, ask) =>
      new Promise((resolve, reject) => {
        let group = groups.get(name);
        if (!group) groups.set(name, (group = { waiting: [], running: 0, isScheduled: false }));
        const { waiting } = group;
        // Batches are cut at these places and nowhere else.
        const isFirst = waiting.length % MAX_ASKS === 0;
        waiting.push({ ask, asker: isFirst ? new AsyncResource('gather') : null, resolve, reject });
        if (group.running < MAX_STATEMENTS) schedule(name, group);
      }),
  };
}

/** Never rejects. */
async function answer<Ask, Found>(
  run: Run<Ask, Found>,
  batch: readonly Waiting<Ask, Found>[],
): Promise<void> {
  try {
    const found = await run(batch.map(({ ask }) => ask));
    for (const [i, { resolve }] of batch.entries()) resolve(found[i] ?? null);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
