import type { LabelPair } from '@baton/contracts';
import { type AnyQuery, type AnyTx, prepared } from '@baton/postgres';
import { sql } from 'kysely';
import { noteChanged } from './noted-deployments.sql';

export interface LabelOwner {
  username: string;
  userId: number;
}

/** Adds labels; existing ones keep their time and creator. */
export async function addLabels(
  tx: AnyTx,
  tenant: string,
  deploymentKey: number,
  labels: readonly LabelPair[],
  owner: LabelOwner,
): Promise<void> {
  await addLabelsToMany(
    tx,
    tenant,
    labels.map((label) => ({ ...label, deploymentKey })),
    owner,
  );
}

/** Does the same for labels of many deployments. */
export async function addLabelsToMany(
  tx: AnyTx,
  tenant: string,
  labels: readonly (LabelPair & { deploymentKey: number })[],
  owner: LabelOwner,
): Promise<void> {
  if (labels.length === 0) return;
  await prepared(
    tx,
    {
      name: 'labels-add',
      text: `insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
        select l.deployment_key, $1, l.key, l.value, $5, $6 from unnest($2::bigint[], $3::text[], $4::text[])
          as l(deployment_key, key, value) on conflict do nothing`,
    },
    [
      tenant,
      labels.map((l) => l.deploymentKey),
      labels.map((l) => l.key),
      labels.map((l) => l.value),
      owner.username,
      owner.userId,
    ],
  );
  noteChanged(
    tx,
    labels.map((label) => label.deploymentKey),
  );
}

export async function removeLabels(
  tx: AnyTx,
  deploymentKey: number,
  labels: readonly LabelPair[],
): Promise<void> {
  if (labels.length === 0) return;
  await sql`delete from deployment_labels dl using unnest(${labels.map((l) => l.key)}::text[], ${labels.map((l) => l.value)}::text[]) as l(key, value)
    where dl.deployment_key = ${deploymentKey} and dl.key = l.key and dl.value = l.value`.execute(tx);
}

export async function readLabels(db: AnyQuery, deploymentKey: number): Promise<LabelPair[]> {
  const { rows } = await sql<LabelPair>`
    select key, value from deployment_labels where deployment_key = ${deploymentKey} order by created_at, key, value`.execute(
    db,
  );
  return rows;
}

/**
 * Updates the csys-consumer-id labels of the given deployments. Consumers are children, users of shared resources, and deployments
 * whose dependency was resolved by a function.
 */
export async function refreshConsumers(tx: AnyTx, deploymentKeys: readonly number[]): Promise<void> {
  if (deploymentKeys.length === 0) return;
  const keys = [...new Set(deploymentKeys)].sort((a, b) => a - b);
  const consumers = sql`
    select t.key as deployment_key, t.tenant, s.id as value, t.created_by
    from deployments t
    join (
      select i.target_key, i.source_key from inter_deployment_dependencies i
        where i.target_key = any(${keys}::bigint[]) and i.source_key is not null
          and (i.dependency_creator like 'sharedresource.%'
            or i.target_deployment_func is not null and i.dependency_creator not like 'component.%')
      union
      select p.parent_key, p.child_key from deployment_parents p where p.parent_key = any(${keys}::bigint[])
    ) c on c.target_key = t.key
    join deployments s on s.key = c.source_key`;
  await sql`delete from deployment_labels l where l.deployment_key = any(${keys}::bigint[]) and l.key = 'csys-consumer-id'
    and not exists (select 1 from (${consumers}) c where c.deployment_key = l.deployment_key and c.value = l.value)`.execute(
    tx,
  );
  await sql`insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
    select c.deployment_key, c.tenant, 'csys-consumer-id', c.value, c.created_by, 0 from (${consumers}) c on conflict do nothing`.execute(
    tx,
  );
}

/** Removes these labels from the given deployments. */
export async function removeLabelsFromMany(
  tx: AnyTx,
  deploymentKeys: readonly number[],
  labels: readonly LabelPair[],
): Promise<void> {
  await sql`delete from deployment_labels dl
    using unnest(${labels.map((l) => l.key)}::text[], ${labels.map((l) => l.value)}::text[]) as l(key, value)
    where dl.deployment_key = any(${[...deploymentKeys]}::bigint[]) and dl.key = l.key and dl.value = l.value`.execute(
    tx,
  );
  noteChanged(tx, deploymentKeys);
}
