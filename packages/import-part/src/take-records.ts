import { importOptions, type importsRpc } from '@baton/contracts';
import type { PoolClient } from 'pg';
import type { FateBook } from './fates';
import type { Fate, ImportContext, ImportTables, StagedRecord } from './importer';
import type { StageSealer } from './stage-sealer';
import { batchAt, batchesOf } from './staged-records';

/** Gives all staged records to the importers, in the caller's transaction. */
export async function takeRecords(
  client: PoolClient,
  tables: ImportTables,
  request: importsRpc.ImportRequest,
  book: FateBook,
  isRehearsal: boolean,
  sealer?: StageSealer,
): Promise<void> {
  const options = importOptions.parse(JSON.parse(request.optionsJson || '{}'));
  const shared = new Map<string, unknown>();
  const contextOf = (tenant: string): ImportContext => ({
    client,
    importId: request.importId,
    jobId: request.jobId || request.importId,
    tenant,
    options,
    source: request.source,
    isRehearsal,
    shared,
    note: (text) => void book.notes.push(text),
  });
  await loseUnknownTypes(client, tables, request.importId, { book, sealer });
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

/** No importer takes them: each of these records is lost, and the report says so. */
async function loseUnknownTypes(
  client: PoolClient,
  tables: ImportTables,
  importId: string,
  { book, sealer }: { book: FateBook; sealer: StageSealer | undefined },
): Promise<void> {
  const known = tables.importers.map(({ type }) => type);
  const { rows } = await client.query<{ type: string; tenant: string; batch: number }>(
    'select type, tenant, batch from import_staging where import_id = $1 and type <> all($2) order by type, tenant, batch',
    [importId, known],
  );
  for (const { type, tenant, batch } of rows) {
    const records = await batchAt(client, { importId, type, tenant, batch }, sealer);
    await book.add(type, tenant, records, records.map(lostOf));
  }
}

const lostOf = ({ item }: StagedRecord): Fate => ({
  id: String(item.id ?? item.name ?? item.key ?? item.username ?? item.permission ?? ''),
  fate: 'lost',
  code: 'type_not_taken',
  text: 'This manager does not take over records of this type',
});
