// Determines the statements that one request causes, separated from the statements that a manager sends all the time by itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { SentStatement, SqlWatch } from './watched-sql';

/** A single statement, or a transaction from its begin to its commit. */
export type Unit = SentStatement[];

/**
 * Longer than the longest interval of the permanent loops (10 s plus jitter), and longer than the initial delay of the lease
 * reaper, which sends its statement each second only after that delay.
 */
const IDLE_MS = 13_000;
/** Long enough for work that a request leaves to be done after its answer. */
const AFTER_MS = 150;

/** Groups statements in their order; those of a transaction form one unit. */
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
   * Returns the statements that `request` causes in the processes. Sends it three times: the first one may fill caches, and
   * statements that are missing in one of the other two were not caused by the request.
   */
  of(request: () => Promise<void>): Promise<Unit[]>;
}

/**
 * Observes the idle processes first. Only statements in `schemas` count: others come from services that are notified of the
 * request.
 */
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
