import type { ImportClient } from '@baton/import-part';

export type MadeKind = 'role' | 'tenant' | 'group';

const CREATE =
  'create temporary table if not exists import_made (kind text, name text, primary key (kind, name)) on commit drop';

/** Notes what this import has made, in its transaction: rights in such objects are nobody's decision here yet. */
export async function noteMade(
  client: ImportClient,
  kind: MadeKind,
  names: readonly string[],
): Promise<void> {
  await client.query(CREATE);
  await client.query(
    'insert into import_made (kind, name) select $1, unnest($2::text[]) on conflict do nothing',
    [kind, names],
  );
}

export async function madeHere(client: ImportClient, kind: MadeKind): Promise<Set<string>> {
  await client.query(CREATE);
  const { rows } = await client.query<{ name: string }>('select name from import_made where kind = $1', [
    kind,
  ]);
  return new Set(rows.map(({ name }) => name));
}
