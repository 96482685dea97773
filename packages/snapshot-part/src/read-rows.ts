import type { ClientBase } from 'pg';
import { quote } from './schema';

/** Target size in bytes of the rows of one fetch; a single larger row comes alone. */
const FETCH_BYTES = 512 * 1024;
const MAX_ROWS = 4000;
const GROWTH = 4;

/**
 * Reads rows of a table as lines of JSON with the columns by name, in pieces of bounded size. The table is found by the search
 * path, temporary ones first. Runs inside a transaction of the caller.
 */
export async function* readRows(
  client: ClientBase,
  table: { name: string; columns: readonly string[] },
  condition: string | null = null,
): AsyncGenerator<string[], void, void> {
  const columns = table.columns.map(quote).join(', ');
  const where = condition === null ? '' : ` where ${condition}`;
  // Line breaks occur only between the tokens of json columns, where a blank has the same meaning.
  await client.query(
    `declare snapshot_rows no scroll cursor for
       select translate(row_to_json(r)::text, E'\\n\\r', '  ') as line
       from (select ${columns} from ${quote(table.name)}${where}) r`,
  );
  for (let count = 16; ; ) {
    const { rows } = await client.query(`fetch ${count} from snapshot_rows`);
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => line as string);
    yield lines;
    if (rows.length < count) break;
    count = nextCount(count, lines);
  }
  await client.query('close snapshot_rows');
}

function nextCount(count: number, lines: readonly string[]): number {
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  const fitting = Math.floor((FETCH_BYTES * count) / Math.max(1, bytes));
  return Math.max(1, Math.min(fitting, count * GROWTH, MAX_ROWS));
}
