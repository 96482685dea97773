import { ArchiveRefused } from '../archive-refused';
import type { Tally } from '../model/tally';
import type { Archive } from '../open-archive';
import { rawField, textOf, unescaped } from './copy-fields';
import { DUMP_FILE, type DumpHandler, type DumpTable, readDump } from './dump-reader';
import type { Line } from './lines';
import { References } from './references';
import { Spool } from './spool';
import {
  CHILD_TABLES,
  JOIN_TABLES,
  MANAGER_TABLES,
  NAMED_TABLES,
  OWNED_TABLES,
  TENANT_TABLES,
} from './table-specs';

/** The dump after its first reading: rows by table and tenant, and what refers to what. */
export interface Collected {
  spool: Spool;
  references: References;
  tables: ReadonlyMap<string, readonly string[]>;
}

export const bucketOf = (table: string, tenantKey?: number): string => `${table}/${tenantKey ?? ''}`;

type Taker = (line: Line) => void;
const DELETED_EXECUTION = /^DELETE\s+FROM\s+(?:public\.)?executions\s+WHERE\s+id\s*=\s*'([^']{1,200})'\s*;$/i;
const managerTables = new Set<string>(MANAGER_TABLES);

/** Reads the dump once. The caller closes the spool. @throws ArchiveRefused copy, limit or zip */
export async function collect(archive: Archive, tally: Tally): Promise<Collected> {
  const spool = await Spool.create();
  try {
    const collector = new Collector(spool, new References(archive.limits.maxIndexEntries), tally);
    const { tables } = await readDump(archive, collector, () => spool.drain());
    await spool.finish();
    return { spool, references: collector.references, tables };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

class Collector implements DumpHandler {
  readonly #takers = new Map<string, Taker>();

  constructor(
    private readonly spool: Spool,
    readonly references: References,
    private readonly tally: Tally,
  ) {}

  row(table: DumpTable, line: Line): void {
    let take = this.#takers.get(table.name);
    if (!take) this.#takers.set(table.name, (take = this.#takerOf(table)));
    take(line);
  }

  statement(text: string): void {
    const deleted = DELETED_EXECUTION.exec(text)?.[1];
    if (deleted !== undefined) this.references.deletedExecutions.add(deleted);
    else this.tally.statement(beginningOf(text));
  }

  #takerOf(table: DumpTable): Taker {
    const { name } = table;
    if (managerTables.has(name)) return this.#carried(table, () => bucketOf(name));
    if (Object.hasOwn(TENANT_TABLES, name)) {
      const tenant = columnOf(table, ['_tenant_id']);
      return this.#carried(table, (line) => bucketOf(name, keyAt(table, line, tenant) ?? undefined));
    }
    if (Object.hasOwn(CHILD_TABLES, name)) return this.#child(table, columnOf(table, CHILD_TABLES[name]!));
    if (Object.hasOwn(JOIN_TABLES, name)) return this.#join(table, JOIN_TABLES[name]!);
    return () => this.tally.skipMany({ type: name.slice(0, 100), reason: 'not-carried' }, 1);
  }

  #carried(table: DumpTable, bucket: (line: Line) => string): Taker {
    const named = NAMED_TABLES[table.name];
    const keyColumn = named && columnOf(table, [named[0]]);
    const nameColumn = named && columnOf(table, [named[1]]);
    const owner = OWNED_TABLES[table.name];
    const ownerColumn = owner === undefined ? undefined : columnOf(table, [owner]);
    return (line) => {
      this.spool.add(bucket(line), line);
      if (keyColumn === undefined || nameColumn === undefined) return;
      const key = keyAt(table, line, keyColumn);
      const name = textAt(table, line, nameColumn);
      if (key === null || name === null) return;
      this.references.name(table.name, key, name);
      const ownerKey = ownerColumn === undefined ? null : keyAt(table, line, ownerColumn);
      if (ownerKey !== null) this.references.own(table.name, key, ownerKey);
    };
  }

  #child(table: DumpTable, parent: number): Taker {
    return (line) => {
      const key = keyAt(table, line, parent);
      if (key !== null) this.references.child(table.name, key, this.spool.keep(line));
    };
  }

  #join(table: DumpTable, columns: readonly string[]): Taker {
    const places = columns.map((column) => columnOf(table, [column]));
    return (line) => {
      const [first, ...rest] = places.map((place) => keyAt(table, line, place));
      if (first !== null && first !== undefined && rest.every((key) => key !== null))
        this.references.join(table.name, first, rest as number[]);
    };
  }
}

/** Position of the first of these columns that the table has. @throws ArchiveRefused copy where it has none */
function columnOf({ name, columns }: DumpTable, wanted: readonly string[]): number {
  for (const column of wanted) if (columns.includes(column)) return columns.indexOf(column);
  throw new ArchiveRefused('copy', `the table lacks the column ${wanted[0]}`, {
    file: DUMP_FILE,
    table: name,
  });
}

function textAt({ name, columns }: DumpTable, { bytes, number }: Line, column: number): string | null {
  const place = { file: DUMP_FILE, table: name, line: number, field: columns[column]! };
  const field = rawField(bytes, column);
  if (!field) throw new ArchiveRefused('copy', 'the row has too few fields', place);
  const content = unescaped(field);
  return content && textOf(content, place);
}

function keyAt(table: DumpTable, line: Line, column: number): number | null {
  const text = textAt(table, line, column);
  if (text === null) return null;
  const key = Number(text);
  if (/^-?\d{1,15}$/.test(text) && Number.isSafeInteger(key)) return key;
  const place = { file: DUMP_FILE, table: table.name, line: line.number, field: table.columns[column]! };
  throw new ArchiveRefused('copy', 'a key is no whole number', place);
}

/** The first words of a statement, without values: `SELECT pg_catalog.setval`. */
function beginningOf(text: string): string {
  return /^\S+(?:\s+[A-Za-z_.]+){0,2}/.exec(text)?.[0].slice(0, 80) ?? text.slice(0, 20);
}
