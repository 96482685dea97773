import type { Principal } from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import { type AnyTx, filterConditions } from '@baton/postgres';
import { storedRules } from '../queries/filters';
import { deploymentRuleTarget } from '../queries/list-deployments';
import { namingScheduled } from '../queries/scheduled-deployments';
import { findGroup } from '../store/deployment-groups.sql';
import { selectedByConditions, selectedByGroup, selectedByIds } from '../store/member-selection.sql';
import { deploymentRules } from './filters';

/** The fields that select deployments of the tenant in bodies of groups; null, absent and no rules select nothing. */
export interface MemberSelection {
  deployment_ids?: string[] | null;
  filter_id?: string | null;
  filter_rules?: unknown[] | null;
  deployments_from_group?: string | string[] | null;
}

/**
 * Returns the keys of the selected deployments: by id, by a stored filter, by rules, by another group. Only deployments of the
 * request's tenant that the caller sees. `scheduled`: `tenant/id` of the deployments that have schedules.
 * @throws AppError not_found_error (deployment, filter, group), invalid_filter_rule.
 */
export async function selectMembers(
  tx: AnyTx,
  principal: Principal,
  selection: MemberSelection,
  scheduled: string[],
): Promise<number[]> {
  const ids = selection.deployment_ids ?? [];
  const byId = ids.length === 0 ? [] : await selectedByIds(tx, principal, ids);
  const missing = ids.find((id) => !byId.some((row) => row.id === id));
  if (missing !== undefined) throw notFound('Deployment', missing);
  const order = new Map(ids.map((id, i) => [id, i]));
  const found = byId.sort((a, b) => order.get(a.id)! - order.get(b.id)!).map((row) => row.key);
  const stored = await storedRules(tx as never, principal, selection.filter_id);
  const given = selection.filter_rules?.length ? deploymentRules(selection.filter_rules) : null;
  for (const rules of [stored, given]) {
    if (!rules) continue;
    const conditions = filterConditions(namingScheduled(rules, scheduled), deploymentRuleTarget);
    found.push(...(await selectedByConditions(tx, principal, conditions)).map((row) => row.key));
  }
  for (const id of [selection.deployments_from_group || []].flat()) {
    const group = await findGroup(tx, principal, id);
    if (!group) throw notFound('DeploymentGroup', id);
    found.push(...(await selectedByGroup(tx, principal, group.key)).map((row) => row.key));
  }
  return [...new Set(found)];
}

/** Refuses new deployments in a removal of members. @throws AppError bad_parameters_error */
export function refuseNewDeployments(remove: { new_deployments?: unknown } | null | undefined): void {
  if (remove?.new_deployments === undefined || remove.new_deployments === null) return;
  throw new AppError('bad_parameters_error', 'remove.new_deployments: new deployments can only be added', {
    field: 'remove.new_deployments',
    expected: 'deployment_ids, filter_id, filter_rules or deployments_from_group',
  });
}
