/** A calendar month in UTC. Events are stored in one partition for each month. */
export interface EventMonth {
  /** Name of the partition: events_202612. */
  table: string;
  /** ISO instants: the start of this month, and of the next one. */
  from: string;
  to: string;
}

const NAME = /^events_(\d{4})(\d{2})$/;

function eventMonth(year: number, monthIndex: number): EventMonth {
  const from = new Date(Date.UTC(year, monthIndex, 1));
  const to = new Date(Date.UTC(year, monthIndex + 1, 1));
  return {
    table: `events_${from.toISOString().slice(0, 7).replace('-', '')}`,
    from: from.toISOString(),
    to: to.toISOString(),
  };
}

/** Returns the month of `nowMs` and the `ahead` months after it. */
export function monthsFrom(nowMs: number, ahead: number): EventMonth[] {
  const now = new Date(nowMs);
  return Array.from({ length: ahead + 1 }, (_, i) => eventMonth(now.getUTCFullYear(), now.getUTCMonth() + i));
}

/** Returns the months of those `tables` whose newest possible event is older than `days`; other tables are skipped. */
export function expiredMonths(tables: readonly string[], nowMs: number, days: number): EventMonth[] {
  const cutoff = new Date(nowMs - days * 86_400_000).toISOString();
  return tables.flatMap((table) => {
    const match = NAME.exec(table);
    const month = match && eventMonth(Number(match[1]), Number(match[2]) - 1);
    return month && month.to <= cutoff ? [month] : [];
  });
}
