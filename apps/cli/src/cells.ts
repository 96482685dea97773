import { oneLine } from './plain-text';

/** ISO 8601 in UTC, as all times of the API are written. */
const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)?Z$/;
const STATES = /(^|_)(status|state|outcome)$/;
const COLOURS: readonly [RegExp, number][] = [
  [/^(failed|fail|cancelled|requires_attention|refused|invalid.*|failed_.*|nonresponsive)$/i, 31],
  [/^(terminated|completed|ok|active|good|started|uploaded|created|successful|finished|fired)$/i, 32],
  [/^(in_progress|pending|queued|cancelling|force_cancelling|kill_cancelling|updating|degraded|.*ing)$/i, 33],
];

/** Returns a value as the text of a table cell. Times of the API become `2026-11-26 20:14` (UTC). */
export function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'object') return oneLine(JSON.stringify(value));
  const text = String(value);
  const instant = INSTANT.exec(text);
  return instant ? `${instant[1]} ${instant[2]}` : oneLine(text);
}

/** Returns `2026-11-26 20:14:05.123` (UTC) for a time of the API; another text unchanged. */
export function exactTime(text: string): string {
  const instant = INSTANT.exec(text);
  return instant ? `${instant[1]} ${instant[2]}${instant[3] ?? ''}` : text;
}

/** Colours the padded cell of a column that holds a state; other cells stay. Only terminals get colours. */
function coloured(cell: string, column: string): string {
  if (!STATES.test(column)) return cell;
  const colour = COLOURS.find(([values]) => values.test(cell.trim()))?.[1];
  return colour === undefined ? cell : `\u001b[${colour}m${cell}\u001b[0m`;
}

/** A table with a line of titles; each column is as wide as its widest cell. */
export function tableText(
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
  isColoured: boolean,
): string {
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
  const titles = columns.map((column) => column.replaceAll('_', ' '));
  const widths = titles.map((title, i) =>
    cells.reduce((most, row) => Math.max(most, row[i]!.length), title.length),
  );
  const line = (row: readonly string[], paint = (cell: string, _column: string): string => cell): string =>
    row
      .map((cell, i) => paint(i === row.length - 1 ? cell : cell.padEnd(widths[i]!), columns[i]!))
      .join('  ')
      .trimEnd();
  return [
    line(titles),
    line(widths.map((width) => '-'.repeat(width))),
    ...cells.map((row) => line(row, isColoured ? coloured : undefined)),
    `${rows.length} shown`,
  ].join('\n');
}

/** One object as lines of `name  value`. */
export function recordText(
  object: Record<string, unknown>,
  fields: readonly string[],
  isColoured: boolean,
): string {
  const width = fields.reduce((most, field) => Math.max(most, field.length), 0);
  const paint = (text: string, field: string): string => (isColoured ? coloured(text, field) : text);
  return fields
    .map((field) => `${oneLine(field).padEnd(width)}  ${paint(cellText(object[field]), field)}`)
    .join('\n');
}
