import type { Principal } from '@baton/contracts';
import type { AnyTx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentScope } from './deployments.sql';

export interface SelectedDeployment {
  key: number;
  id: string;
}

/** Returns the tenant's deployments with these ids that the caller sees. */
export const selectedByIds = (tx: AnyTx, principal: Principal, ids: readonly string[]) =>
  selected(tx, principal, [sql<SqlBool>`d.id = any(${[...ids]}::text[])`]);

/** Returns those for which all `conditions` (on `deployments d`) hold; without conditions all of them. */
export const selectedByConditions = (
  tx: AnyTx,
  principal: Principal,
  conditions: readonly RawBuilder<SqlBool>[],
) => selected(tx, principal, conditions);

/** Returns those that are members of the group. */
export const selectedByGroup = (tx: AnyTx, principal: Principal, groupKey: number) =>
  selected(tx, principal, [
    sql<SqlBool>`d.key in (select m.deployment_key from deployment_group_members m where m.group_key = ${groupKey})`,
  ]);

async function selected(
  tx: AnyTx,
  principal: Principal,
  conditions: readonly RawBuilder<SqlBool>[],
): Promise<SelectedDeployment[]> {
  const where = [sql<SqlBool>`d.tenant = ${principal.tenant}`, deploymentScope(principal), ...conditions];
  const { rows } = await sql<SelectedDeployment>`
    select d.key, d.id from deployments d where ${sql.join(where, sql` and `)} order by d.created_at, d.key`.execute(
    tx,
  );
  return rows;
}
