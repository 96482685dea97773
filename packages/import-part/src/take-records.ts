import { importOptions, type importsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { PoolClient } from 'pg';
import type { FateBook } from './fates';
import type { ImportContext, ImportTables } from './importer';
import type { StageSealer } from './stage-sealer';
import { batchAt, batchesOf } from './staged-records';

/** Gives all staged records to the importers, in the caller's transaction. @throws AppError bad_parameters_error */
export async function takeRecords(
  client: PoolClient,
  tables: ImportTables,
  request: importsRpc.ImportRequest,
  book: FateBook,
  isRehearsal: boolean,
  sealer?: StageSealer,
): Promise<void> {
  const options = importOptions.parse(JSON.parse(request.optionsJson || '{}'));
  const contextOf = (tenant: string): ImportContext => ({
    client,
    importId: request.importId,
    tenant,
    options,
    source: request.source,
    isRehearsal,
    note: (text) => void book.notes.push(text),
  });
  await refuseUnknownTypes(client, tables, request.importId);
  const tenants = new Set<string>();
  for (const importer of tables.importers)
    for (const { tenant, batch } of await batchesOf(client, request.importId, importer.type)) {
      tenants.add(tenant);
      const records = await batchAt(
        client,
        { importId: request.importId, type: importer.type, tenant, batch },
        sealer,
      );
      await book.add(importer.type, tenant, records, await importer.take(contextOf(tenant), records));
    }
  if (tables.finish) for (const tenant of tenants) await tables.finish(contextOf(tenant));
}

async function refuseUnknownTypes(client: PoolClient, tables: ImportTables, importId: string): Promise<void> {
  const known = tables.importers.map(({ type }) => type);
  const { rows } = await client.query<{ type: string }>(
    'select distinct type from import_staging where import_id = $1 and type <> all($2)',
    [importId, known],
  );
  if (rows.length > 0)
    throw new AppError('bad_parameters_error', `Records of a type that is not known here: ${rows[0]!.type}`, {
      expected: known,
    });
}
