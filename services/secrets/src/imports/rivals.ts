import type { Visibility } from '@baton/contracts';
import type { ImportClient, ImportContext } from '@baton/import-part';

export interface Named {
  tenant: string;
  visibility: Visibility;
}

/** Nobody adds or widens a name meanwhile: names are unique within a tenant and against global ones. Reads go on. */
export async function holdNames(
  { client, isRehearsal }: Pick<ImportContext, 'client' | 'isRehearsal'>,
  table: 'secrets' | 'secrets_providers',
): Promise<void> {
  if (!isRehearsal) await client.query(`lock table ${table} in share row exclusive mode`);
}

/** Rows with one of these names, of all tenants, by name. */
export async function rowsNamed<Row extends Named>(
  client: ImportClient,
  { table, column }: { table: 'secrets' | 'secrets_providers'; column: 'key' | 'name' },
  names: readonly string[],
): Promise<Map<string, Row[]>> {
  const { rows } = await client.query<Row & Record<string, string>>(
    `select * from ${table} where ${column} = any($1::text[])`,
    [names],
  );
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(row[column]!, [...(found.get(row[column]!) ?? []), row]);
  return found;
}
