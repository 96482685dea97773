/** Prints for people, or with --json exactly one JSON document. */
export interface Printer {
  isJson: boolean;
  /** A list as a table of the named columns. */
  table(rows: readonly object[], columns: readonly string[]): void;
  /** One object as lines of `name  value`. */
  record(object: object, fields?: readonly string[]): void;
  /** A sentence for people; nothing with --json. */
  say(text: string): void;
  /** The result of a command that has nothing else to show. */
  done(text: string, result: object): void;
}

export function printer(
  isJson: boolean,
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Printer {
  const json = (value: unknown) => write(`${JSON.stringify(value, null, 2)}\n`);
  return {
    isJson,
    table(rows, columns) {
      if (isJson) json(rows);
      else write(`${tableText(rows as Record<string, unknown>[], columns)}\n`);
    },
    record(object, fields) {
      if (isJson) json(object);
      else write(`${recordText(object as Record<string, unknown>, fields ?? Object.keys(object))}\n`);
    },
    say(text) {
      if (!isJson) write(`${text}\n`);
    },
    done(text, result) {
      if (isJson) json(result);
      else write(`${text}\n`);
    },
  };
}

export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

function tableText(rows: readonly Record<string, unknown>[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
  const titles = columns.map((column) => column.replaceAll('_', ' '));
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return [
    line(titles),
    line(widths.map((width) => '-'.repeat(width))),
    ...cells.map(line),
    `${rows.length} shown`,
  ].join('\n');
}

function recordText(object: Record<string, unknown>, fields: readonly string[]): string {
  const width = Math.max(0, ...fields.map((field) => field.length));
  return fields.map((field) => `${field.padEnd(width)}  ${cellText(object[field])}`).join('\n');
}
