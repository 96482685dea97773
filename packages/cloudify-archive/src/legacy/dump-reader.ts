import { ArchiveRefused, type Place } from '../archive-refused';
import type { Archive } from '../open-archive';
import { type Line, LineCutter } from './lines';

/** A table of the dump: the columns stand in the header of its COPY block, in its order. */
export interface DumpTable {
  name: string;
  columns: readonly string[];
}

export interface DumpHandler {
  /** A row as it stands in the dump; its fields are separated by tabs and escaped. */
  row(table: DumpTable, line: Line): void;
  /** A statement that is not run. */
  statement(text: string, line: number): void;
}

export const DUMP_FILE = 'pg_data';
const NAME = '(?:"(?:[^"]|"")*"|[A-Za-z_][\\w$]*)';
const COPY = new RegExp(`^COPY\\s+(?:${NAME}\\.)?(${NAME})\\s*\\((.*)\\)\\s+FROM\\s+stdin(?:\\s+.*)?;$`, 'i');
const COLUMN = new RegExp(`^\\s*(${NAME})\\s*$`);
/** Every pg_dump ends with this line; the original appends one statement. */
const COMPLETE = '-- PostgreSQL database dump complete';
/** Bytes of a statement: a name of a table and its columns, or a condition. */
const MAX_STATEMENT_BYTES = 64 * 1024;
const MAX_COLUMNS = 1600;

/**
 * Reads the plain SQL that `pg_dump --data-only` writes, line by line. Nothing of it is run: rows are handed over, statements are
 * reported.
 */
export class DumpReader {
  #table: DumpTable | null = null;
  #statement: { text: string; line: number } | null = null;
  readonly #lines: LineCutter;
  readonly #columns = new Map<string, readonly string[]>();
  #isComplete = false;

  constructor(
    private readonly handler: DumpHandler,
    maxLineBytes: number,
  ) {
    this.#lines = new LineCutter(maxLineBytes, (line) => this.#place(line));
  }

  /** Columns by table, as met so far. */
  get tables(): ReadonlyMap<string, readonly string[]> {
    return this.#columns;
  }

  /** @throws ArchiveRefused copy or limit */
  push(piece: Buffer): void {
    for (const line of this.#lines.push(piece)) this.#line(line);
  }

  /** @throws ArchiveRefused copy where the dump is cut off */
  end(): void {
    const last = this.#lines.end();
    if (last) this.#line(last);
    if (this.#table)
      throw new ArchiveRefused(
        'copy',
        'the dump is cut off: the rows of the table do not end',
        this.#place(),
      );
    if (this.#statement)
      throw new ArchiveRefused(
        'copy',
        'the dump is cut off: a statement does not end',
        this.#place(this.#statement.line),
      );
    if (!this.#isComplete)
      throw new ArchiveRefused(
        'copy',
        `the dump is cut off between two tables: expected the line "${COMPLETE}" at its end`,
        this.#place(),
      );
  }

  #place(line?: number): Place {
    return {
      file: DUMP_FILE,
      ...(this.#table ? { table: this.#table.name } : {}),
      ...(line === undefined ? {} : { line }),
    };
  }

  #line(line: Line): void {
    if (!this.#table) this.#sql(line);
    else if (line.bytes.length === 2 && line.bytes.toString('latin1') === '\\.') this.#table = null;
    else this.handler.row(this.#table, line);
  }

  #sql({ bytes, number }: Line): void {
    if (bytes.length + (this.#statement?.text.length ?? 0) > MAX_STATEMENT_BYTES)
      throw new ArchiveRefused(
        'limit',
        `a statement is longer than ${MAX_STATEMENT_BYTES} bytes`,
        this.#place(number),
      );
    const text = bytes.toString('utf8').trimEnd();
    if (!this.#statement && text === COMPLETE) this.#isComplete = true;
    if (!this.#statement && (text === '' || text.startsWith('--'))) return;
    // Commands of psql, such as \restrict, are one line.
    if (!this.#statement && text.startsWith('\\')) return this.handler.statement(text, number);
    const statement = this.#statement ?? { text: '', line: number };
    statement.text = statement.text === '' ? text : `${statement.text}\n${text}`;
    this.#statement = statement;
    if (!text.endsWith(';')) return;
    this.#statement = null;
    const copy = COPY.exec(statement.text);
    if (copy) this.#begin(unquoted(copy[1]!), copy[2]!, statement.line);
    else this.handler.statement(statement.text, statement.line);
  }

  #begin(name: string, list: string, line: number): void {
    const columns = list.split(',').map((column) => {
      const found = COLUMN.exec(column);
      if (!found)
        throw new ArchiveRefused('copy', 'a name of a column cannot be read', {
          file: DUMP_FILE,
          table: name,
          line,
        });
      return unquoted(found[1]!);
    });
    if (columns.length > MAX_COLUMNS || new Set(columns).size !== columns.length)
      throw new ArchiveRefused('copy', 'its columns are too many, or named twice', {
        file: DUMP_FILE,
        table: name,
        line,
      });
    const before = this.#columns.get(name);
    if (before && before.join() !== columns.join())
      throw new ArchiveRefused('copy', 'the table is there twice, with other columns', {
        file: DUMP_FILE,
        table: name,
        line,
      });
    this.#columns.set(name, columns);
    this.#table = { name, columns };
  }
}

const unquoted = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;

/** Reads the dump of an archive to its end. `pause` may wait after each piece. @throws ArchiveRefused copy, limit or zip */
export async function readDump(
  archive: Archive,
  handler: DumpHandler,
  pause: () => Promise<void>,
): Promise<DumpReader> {
  const reader = new DumpReader(handler, archive.limits.maxLineBytes);
  for await (const piece of archive.read(DUMP_FILE)) {
    reader.push(piece);
    await pause();
  }
  reader.end();
  return reader;
}
