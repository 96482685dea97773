import type { PoolClient } from 'pg';

/** What is known of a record from earlier imports. */
export interface SettledRecord {
  /** Of its content, hex. */
  digest: string;
  importId: string;
}

/** Returns what earlier imports, and earlier batches of this one, have taken, by id. */
export async function readSettled(
  client: PoolClient,
  type: string,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, SettledRecord>> {
  const { rows } = await client.query<{ id: string; digest: string; import_id: string }>(
    `select id, encode(digest, 'hex') as digest, import_id from import_records
     where type = $1 and tenant = $2 and id = any($3::text[])`,
    [type, tenant, ids],
  );
  return new Map(rows.map((row) => [row.id, { digest: row.digest, importId: row.import_id }]));
}

/** Notes that these records were taken, so that a repeat of them is `same`. */
export async function noteSettled(
  client: PoolClient,
  type: string,
  tenant: string,
  importId: string,
  records: readonly { id: string; digest: string }[],
): Promise<void> {
  if (records.length === 0) return;
  await client.query(
    `insert into import_records (type, tenant, id, digest, import_id)
     select $1, $2, r.id, decode(r.digest, 'hex'), $3 from unnest($4::text[], $5::text[]) r (id, digest)
     on conflict (type, tenant, id) do update set digest = excluded.digest, import_id = excluded.import_id`,
    [type, tenant, importId, records.map((one) => one.id), records.map((one) => one.digest)],
  );
}
