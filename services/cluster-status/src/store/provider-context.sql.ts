import { type Db, jsonb, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

export interface ProviderContext {
  name: string;
  context: Record<string, unknown>;
}

export async function readProviderContext(reader: Db<DB>['query']): Promise<ProviderContext | null> {
  const { rows } = await sql<ProviderContext>`select name, context from provider_context`.execute(reader);
  return rows[0] ?? null;
}

/** False when there is one and it may not be replaced, or none to be replaced. */
export async function writeProviderContext(
  tx: Tx<DB>,
  { name, context }: ProviderContext,
  isUpdate: boolean,
): Promise<boolean> {
  const statement = isUpdate
    ? sql`update provider_context set name = ${name}, context = ${jsonb(context)} returning 1`
    : sql`insert into provider_context (name, context) values (${name}, ${jsonb(context)})
        on conflict do nothing returning 1`;
  return (await statement.execute(tx)).rows.length > 0;
}
