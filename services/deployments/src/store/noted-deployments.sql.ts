import { deploymentResourcesChanged, type ResourceChange } from '@baton/contracts';
import { type AnyTx, atEndOf, noteResource } from '@baton/postgres';
import { sql } from 'kysely';

/** A deployment, and the fields that decide who may see it. */
export interface OwnedDeployment {
  tenant: string;
  id: string;
  created_by: string;
  visibility: string;
}

const noted = new WeakMap<AnyTx, Set<number>>();

/** Reports to the streams of changes, when `tx` commits, that these deployments or their shown contents have changed. */
export function noteChanged(tx: AnyTx, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const all = noted.get(tx) ?? new Set<number>();
  noted.set(tx, all);
  for (const key of keys) all.add(key);
  // The visibility is read at the end, because the transaction may change it too.
  atEndOf(tx, 'noted-deployments', async () => {
    noted.delete(tx);
    const { rows } = await sql<OwnedDeployment>`
      select tenant, id, created_by, visibility from deployments where key = any(${[...all]}::bigint[])`.execute(
      tx,
    );
    noteOwned(tx, 'changed', rows);
  });
}

/** Reports the same for the deployments of a site, which show its name. */
export async function noteChangedAt(tx: AnyTx, siteKey: number): Promise<void> {
  const { rows } = await sql<{
    key: number;
  }>`select key from deployments where site_key = ${siteKey}`.execute(tx);
  noteChanged(
    tx,
    rows.map(({ key }) => key),
  );
}

/** Reports the same for deployments whose rows the caller has already read. */
export function noteOwned(
  tx: AnyTx,
  operation: ResourceChange['operation'],
  deployments: readonly OwnedDeployment[],
): void {
  for (const { tenant, id, created_by: createdBy, visibility } of deployments)
    noteResource(tx, deploymentResourcesChanged, tenant, {
      kind: 'deployments',
      id,
      operation,
      createdBy,
      visibility: visibility as ResourceChange['visibility'],
    });
}
