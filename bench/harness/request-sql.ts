// Which statements one request costs, told apart from what a manager does by itself all the time.
import { setTimeout as pause } from 'node:timers/promises';
import type { SentStatement, SqlWatch } from './watched-sql';

/** A statement by itself, or a transaction from its begin to its commit. */
export type Unit = SentStatement[];

/**
 * Longer than the longest interval of the loops that run all the time (10 s and its jitter), and than the patience of the
 * reaper of leases after a start: its own statement comes only then, each second.
 */
const IDLE_MS = 13_000;
/** Long enough for what a request leaves to be done after its answer. */
const AFTER_MS = 150;

/** Statements in their order, those of a transaction together. */
function unitsOf(sent: readonly SentStatement[]): Unit[] {
  const open = new Map<number, Unit>();
  const units: Unit[] = [];
  for (const one of sent) {
    const unit = open.get(one.connection);
    if (unit) unit.push(one);
    else if (/^\s*begin/i.test(one.text)) {
      const begun = [one];
      open.set(one.connection, begun);
      units.push(begun);
    } else units.push([one]);
    if (/^\s*(commit|rollback)\s*$/i.test(one.text)) open.delete(one.connection);
  }
  return units;
}

const signature = (unit: Unit): string => unit.map((one) => one.text).join(';');

export interface RequestSql {
  /**
   * What `request` makes the processes send. Asked three times: the first time something may be looked up and kept, and
   * what is not seen both times after it was no part of it.
   */
  of(request: () => Promise<void>): Promise<Unit[]>;
}

/** Watches the processes at rest first. Only statements in `schemas` count: others are done by services that are told of the request. */
export async function requestSql(
  watch: SqlWatch,
  pids: readonly number[],
  schemas: readonly string[],
): Promise<RequestSql> {
  const readAll = async (): Promise<SentStatement[]> =>
    (await Promise.all(pids.map((pid) => watch.read(pid))))
      .flatMap((seen) => seen.all)
      .filter(({ schema }) => schemas.includes(schema));
  await readAll();
  await pause(IDLE_MS);
  const usual = new Set(unitsOf(await readAll()).map(signature));
  return {
    async of(request) {
      const once = async (): Promise<Unit[]> => {
        await request();
        await pause(AFTER_MS);
        return unitsOf(await readAll()).filter((unit) => !usual.has(signature(unit)));
      };
      await once();
      const earlier = new Set((await once()).map(signature));
      return (await once()).filter((unit) => earlier.has(signature(unit)));
    },
  };
}
