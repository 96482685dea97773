import { ArchiveRefused, type Place } from '../archive-refused';
import { parseJson } from '../json/parse-json';
import type { Limits } from '../limits';
import { unpickle } from '../pickle/unpickle';
import type { Note, Value } from '../value';
import { byteaOf, splitRow, textArrayOf, textOf, unescaped } from './copy-fields';
import { DUMP_FILE } from './dump-reader';
import type { Line } from './lines';
import type { ColumnKind } from './table-specs';

/** One row of a dump, read column by column. Absent columns are undefined, NULL is null. */
export class Row {
  readonly notes: Note[] = [];
  readonly place: Place;
  readonly #fields: Buffer[];

  /** @throws ArchiveRefused copy where the fields are not as many as the columns */
  constructor(
    table: string,
    private readonly columns: ReadonlyMap<string, number>,
    line: Line,
    private readonly limits: Limits,
  ) {
    this.place = { file: DUMP_FILE, table, line: line.number };
    this.#fields = splitRow(line.bytes, columns.size, this.place);
  }

  #bytes(column: string): Buffer | null | undefined {
    const at = this.columns.get(column);
    return at === undefined ? undefined : unescaped(this.#fields[at]!);
  }

  #at(column: string): Place {
    return { ...this.place, field: column };
  }

  /** @throws ArchiveRefused copy */
  text(column: string): string | null | undefined {
    const bytes = this.#bytes(column);
    return bytes && textOf(bytes, this.#at(column));
  }

  /** @throws ArchiveRefused copy */
  integer(column: string): number | null | undefined {
    const text = this.text(column);
    if (text === null || text === undefined) return text;
    const value = Number(text);
    if (/^-?\d+$/.test(text) && Number.isSafeInteger(value)) return value;
    throw new ArchiveRefused('copy', 'expected a whole number', this.#at(column));
  }

  #boolean(column: string): boolean | null | undefined {
    const text = this.text(column);
    if (text === 't' || text === 'f') return text === 't';
    if (text === null || text === undefined) return text;
    throw new ArchiveRefused('copy', 'expected t or f', this.#at(column));
  }

  #json(column: string): Value | undefined {
    const bytes = this.#bytes(column);
    if (bytes === null || bytes === undefined) return bytes;
    return this.#noted(column, parseJson(bytes, this.#at(column), this.limits.maxDepth));
  }

  #pickle(column: string): Value | undefined {
    const bytes = this.#bytes(column);
    if (bytes === null || bytes === undefined) return bytes;
    const place = this.#at(column);
    const limits = { maxDepth: this.limits.maxDepth, maxObjects: this.limits.maxPickleObjects };
    return this.#noted(column, unpickle(byteaOf(bytes, place), place, limits));
  }

  #noted(column: string, { value, notes }: { value: Value; notes: Note[] }): Value {
    for (const note of notes)
      this.notes.push({ ...note, path: note.path === '' ? column : `${column}.${note.path}` });
    return value;
  }

  /** JSON since 7.0, with the pickle of before beside it; up to 6.4 the pickle alone. */
  #data(column: string): Value | undefined {
    const old = `${column}_p`;
    if (!this.columns.has(old)) return this.#pickle(column);
    return this.#json(column) ?? this.#pickle(old);
  }

  /** @throws ArchiveRefused copy, json, pickle or limit, with the column */
  read(column: string, kind: ColumnKind): Value | undefined {
    switch (kind) {
      case 'text':
        return this.text(column);
      case 'integer':
        return this.integer(column);
      case 'boolean':
        return this.#boolean(column);
      case 'json':
        return this.#json(column);
      case 'list': {
        const text = this.text(column);
        return text === null || text === undefined ? text : textArrayOf(text, this.#at(column));
      }
      case 'data':
        return this.#data(column);
    }
  }
}
