/** Texts that the secrets service has sealed for this service: signing keys of webhooks, secrets of triggers, keys of archives. */
import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import { useOfImport } from '../imports/domain/kept-keys';
import { useOfTrigger } from '../triggers/domain/kept-secret';
import { useOf } from '../webhooks/domain/kept-secrets';
import type { DB } from './tables.gen';

const tenant = sql.ref('tenant');
const KINDS = {
  webhooks: { table: sql.table('webhooks'), key: sql`uid::text`, tenant, column: sql.ref('sealed'), useOf },
  // An import belongs to no tenant.
  imports: {
    table: sql.table('imports'),
    key: sql`id::text`,
    tenant: sql`''`,
    column: sql.ref('sealed'),
    useOf: useOfImport,
  },
  triggers: {
    table: sql.table('triggers'),
    key: sql`address`,
    tenant,
    column: sql.ref('sealed'),
    useOf: useOfTrigger,
  },
  formerOfTriggers: {
    table: sql.table('triggers'),
    key: sql`address`,
    tenant,
    column: sql.ref('former_sealed'),
    useOf: useOfTrigger,
  },
} as const;
export type SealedKind = keyof typeof KINDS;
export const sealedKinds = Object.keys(KINDS) as SealedKind[];

export interface SealedTextRow {
  key: string;
  of: { tenant: string; use: string };
  sealed: Buffer;
}

/** Returns the next rows behind the key `after`, at most `limit`. */
export async function sealedTexts(
  db: Db<DB>['query'],
  kind: SealedKind,
  after: string,
  limit: number,
): Promise<SealedTextRow[]> {
  const { table, key, tenant: of, column, useOf: use } = KINDS[kind];
  const { rows } = await sql<{ key: string; tenant: string; sealed: Buffer }>`
    select ${key} as key, ${of} as tenant, ${column} as sealed from ${table}
    where ${key} > ${after} and ${column} is not null order by ${key} limit ${limit}`.execute(db);
  return rows.map((row) => ({
    key: row.key,
    of: { tenant: row.tenant, use: use(row.key) },
    sealed: row.sealed,
  }));
}

/** Writes the same text sealed anew; false when the row has another text since it was read, or is gone. */
export async function writeResealed(
  db: Db<DB>['query'],
  kind: SealedKind,
  row: SealedTextRow,
  sealed: Buffer,
): Promise<boolean> {
  const { table, key, column } = KINDS[kind];
  const done = await sql`update ${table} set ${column} = ${sealed}
    where ${key} = ${row.key} and ${column} = ${row.sealed}`.execute(db);
  return done.numAffectedRows === 1n;
}
