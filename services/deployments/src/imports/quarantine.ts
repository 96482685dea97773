import { QUARANTINE_LABEL, quarantined } from '@baton/contracts';
import type { ImportContext } from '@baton/import-part';
import { type AnyQuery, type AnyTx, onClient } from '@baton/postgres';
import { sql } from 'kysely';
import { noteChanged } from '../store/noted-deployments.sql';

/** @throws AppError conflict_error for an imported deployment that is not activated. */
export async function refuseQuarantined(
  db: AnyQuery | AnyTx,
  { key, id }: { key: number; id: string },
): Promise<void> {
  const { rows } = await sql<{ source: string }>`
    select source from deployment_quarantines where deployment_key = ${key}`.execute(db);
  if (rows[0]) throw quarantined(id, rows[0].source);
}

/** Opens imported deployments of a tenant; returns how many were in quarantine. A repeat opens none. */
export async function activateDeployments(
  client: ImportContext['client'],
  { tenant, deploymentIds }: { tenant: string; deploymentIds: readonly string[] },
): Promise<number> {
  return await onClient(client, async (tx) => {
    const { rows } = await client.query<{ key: number }>(
      `delete from deployment_quarantines q using deployments d
       where d.key = q.deployment_key and d.tenant = $1 and ($2::text[] = '{}' or d.id = any($2::text[]))
       returning d.key`,
      [tenant, deploymentIds],
    );
    const keys = rows.map(({ key }) => key);
    await client.query(
      'delete from deployment_labels where deployment_key = any($1::bigint[]) and key = $2',
      [keys, QUARANTINE_LABEL],
    );
    noteChanged(tx, keys);
    return keys.length;
  });
}
