import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface ReportLine {
  /** fate, plan, agent, reference, collision, not_carried, field, note, total. */
  kind: string;
  type?: string;
  tenant?: string;
  id?: string;
  fate?: string;
  code?: string;
  text: string;
  place?: string;
  [more: string]: unknown;
}

export async function clearReport(db: Reader, importId: string): Promise<void> {
  await sql`delete from import_report where import_id = ${importId}`.execute(db);
}

/** Writes lines with the numbers from `seq` on. */
export async function insertLines(
  db: Reader,
  importId: string,
  seq: number,
  lines: readonly ReportLine[],
): Promise<void> {
  await sql`insert into import_report (import_id, seq, kind, line)
    select ${importId}::uuid, ${seq}::int + ordinality - 1, kind, line
    from unnest(${lines.map(({ kind }) => kind)}::text[], ${lines.map((line) => JSON.stringify(line))}::text[])
      with ordinality as t (kind, line, ordinality)`.execute(db);
}

export async function reportPage(
  db: Reader,
  importId: string,
  { size, offset, kind }: { size: number; offset: number; kind?: string },
): Promise<{ items: ReportLine[]; total: number }> {
  const which = sql`import_id = ${importId} and ${kind === undefined ? sql`true` : sql`kind = ${kind}`}`;
  const { rows } = await sql<{ line: string }>`select line from import_report where ${which} order by seq
    limit ${size} offset ${offset}`.execute(db);
  const { rows: counted } = await sql<{
    n: number;
  }>`select count(*) as n from import_report where ${which}`.execute(db);
  return {
    items: rows.map(({ line }) => JSON.parse(line) as ReportLine),
    total: Number(counted[0]!.n),
  };
}
