import { AsyncResource } from 'node:async_hooks';

/**
 * Batches reads of single items: reads that are asked for at the same moment share one statement. With sixteen clients this costs
 * the driver and the database a fraction of as many statements, and a single client waits for nobody. Nothing is cached: a
 * statement begins after all of its questions were asked. So writes may be batched as well, where repeating one is harmless.
 */
export interface Gathered<Ask, Found> {
  /**
   * Returns the answer to `ask`; null when there is none. Only questions of one `group` share a statement. The group must name
   * everything that decides what may be seen, because the statement runs in the context of the request that asked first.
   */
  read(group: string, ask: Ask): Promise<Found | null>;
}

interface Waiting<Ask, Found> {
  ask: Ask;
  /** Async context of the request in which a statement runs that begins with this question. */
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

/** Statements of a group under way at a time: while the database runs one, the answers of the other are sent. */
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
  // Runs after this turn of the event loop: questions of the same turn share a statement.
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
        // Batches begin at these places only.
        const isFirst = waiting.length % MAX_ASKS === 0;
        waiting.push({ ask, asker: isFirst ? new AsyncResource('gather') : null, resolve, reject });
        if (group.running < MAX_STATEMENTS) schedule(name, group);
      }),
  };
}

/** Runs one batch and settles its promises. Never rejects. */
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
