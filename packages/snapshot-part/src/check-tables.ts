import type { ClientBase } from 'pg';
import { inLoadOrder, readShapes } from './schema';
import type { SnapshotTables } from './snapshot-tables';

/**
 * Returns the fault of a declaration, compared with the migrated schema; null when there is none. For tests: a new table is
 * exported by default; a table that must not be exported has to be declared.
 */
export async function snapshotTablesFault(
  client: ClientBase,
  schema: string,
  tables: SnapshotTables,
): Promise<string | null> {
  const shapes = await readShapes(client, schema);
  const names = new Set(shapes.map(({ name }) => name));
  const left = [...Object.keys(tables.kept), ...Object.keys(tables.cleared)];
  const named = [...left, ...tables.contents, ...Object.keys(tables.surviving ?? {})];
  const unknown = named.filter((name) => name !== 'schema_migrations' && !names.has(name));
  if (unknown.length > 0) return `${schema} has no tables ${unknown.join(', ')}`;
  const replaced = shapes.filter(({ name }) => !(name in tables.kept));
  inLoadOrder(replaced);
  for (const shape of shapes) {
    const isKept = shape.name in tables.kept;
    const crossing = shape.refersTo.filter((name) => name in tables.kept !== isKept);
    if (crossing.length > 0)
      return `${shape.name} refers to ${crossing.join(', ')} across what a restore replaces`;
    const cleared = shape.refersTo.filter(
      (name) => name in tables.cleared && !(shape.name in tables.cleared),
    );
    if (!isKept && cleared.length > 0) return `${shape.name} is exported, but ${cleared.join(', ')} is not`;
  }
  return null;
}
