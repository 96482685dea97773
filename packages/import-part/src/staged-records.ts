import { storableJson } from '@baton/kernel';
import type { PoolClient } from 'pg';
import type { StagedRecord } from './importer';
import { openStaged, type StagePlace, type StageSealer } from './stage-sealer';

/** Lines of one staged batch. A batch is at most some MB (commands of cluster-status). */
const readBatch = (records: string, isSealed: boolean): StagedRecord[] =>
  records
    .split('\n')
    .filter((line) => line !== '')
    .map((text) => {
      const line = storableJson(text);
      // Secret values are stored as sealed bytes, which may hold any character.
      return { ...(JSON.parse(isSealed ? text : line) as StagedRecord), line };
    });

/** The records of one staged batch. @throws Error of the sealer */
export async function batchAt(
  client: PoolClient,
  place: StagePlace,
  sealer: StageSealer | undefined,
): Promise<StagedRecord[]> {
  const { rows } = await client.query<{ records: string }>(
    'select records from import_staging where import_id = $1 and type = $2 and tenant = $3 and batch = $4',
    [place.importId, place.type, place.tenant, place.batch],
  );
  return readBatch(openStaged(sealer, place, rows[0]!.records), sealer?.types.includes(place.type) === true);
}

export async function batchesOf(
  client: PoolClient,
  importId: string,
  type: string,
): Promise<{ tenant: string; batch: number }[]> {
  const { rows } = await client.query<{ tenant: string; batch: number }>(
    'select tenant, batch from import_staging where import_id = $1 and type = $2 order by tenant, batch',
    [importId, type],
  );
  return rows;
}

/** All staged records of a type, batch by batch, for what needs them as a whole. */
export async function* stagedRecords(
  client: PoolClient,
  importId: string,
  type: string,
  sealer?: StageSealer,
): AsyncGenerator<StagedRecord[], void, void> {
  for (const place of await batchesOf(client, importId, type))
    yield await batchAt(client, { importId, type, ...place }, sealer);
}
