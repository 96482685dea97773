import { type Note, setOwn, type Value, type ValueObject } from '../value';
import type { References } from './references';
import type { Row } from './row';
import { COMMON, COMMON_DROPPED, type TableSpec } from './table-specs';

export interface ReadRow {
  raw: ValueObject;
  notes: Note[];
  /** What is not in the dump although the object is nothing without it. */
  dangling: string | null;
}

/** The item of a row, with names in place of the keys of other tables. @throws ArchiveRefused (see Row.read) */
export function readRow(
  spec: TableSpec,
  header: readonly string[],
  row: Row,
  references: References,
): ReadRow {
  const raw: ValueObject = {};
  const set = (field: string, value: Value | undefined): void => {
    if (value !== undefined) setOwn(raw, field, value);
  };
  const columns = { ...COMMON, ...spec.columns };
  for (const column of spec.dropped ?? []) if (!spec.renamed?.[column]) delete columns[column];
  for (const [column, kind] of Object.entries(columns))
    set(spec.renamed?.[column] ?? column, row.read(column, kind));
  set('created_by', references.nameOf('users', row.integer('_creator_id') ?? null));
  const dangling = setReferences(spec, row, references, raw);
  const known = knownColumns(spec);
  for (const column of header) if (!known.has(column)) set(column, row.text(column));
  return { raw, notes: row.notes, dangling };
}

function setReferences(spec: TableSpec, row: Row, references: References, raw: ValueObject): string | null {
  let dangling: string | null = null;
  for (const [field, [column, table]] of Object.entries(spec.references ?? {})) {
    const key = row.integer(column);
    if (key === undefined) continue;
    const name = references.nameOf(table, key);
    setOwn(raw, field, name);
    if (name !== null) continue;
    if (spec.required?.includes(field)) dangling ??= `${field}: what it belongs to is not in the dump`;
    else if (key !== null)
      row.notes.push({
        code: 'reference-missing',
        path: field,
        message: `the row of ${table} is not in the dump`,
      });
  }
  return dangling;
}

const known = new WeakMap<TableSpec, ReadonlySet<string>>();

function knownColumns(spec: TableSpec): ReadonlySet<string> {
  let columns = known.get(spec);
  if (!columns) {
    const named = Object.keys({ ...COMMON, ...spec.columns });
    const keys = Object.values(spec.references ?? {}).map(([column]) => column);
    const pickles = named.map((column) => `${column}_p`);
    columns = new Set([...named, ...pickles, ...keys, ...COMMON_DROPPED, ...(spec.dropped ?? [])]);
    known.set(spec, columns);
  }
  return columns;
}
