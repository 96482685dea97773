import { type Principal, requireOwnTenant } from '@baton/contracts';
import { newId, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { descendantKeys } from '../store/dependencies.sql';
import {
  deleteGroup as deleteRow,
  findGroup,
  type GroupRow,
  memberKeys,
} from '../store/deployment-groups.sql';
import { type DeploymentRow, lockDeployment, markDeletion } from '../store/deployments.sql';
import { checkDeletion, type DeleteOptions } from './delete-deployment';

type Deps = Pick<ServiceDeps, 'db' | 'executions' | 'texts'>;

const WORKFLOW = 'delete_deployment_environment';
/** The same as for groups that create deployments (reference/rest-api.md 5.6). */
const CONCURRENCY = 10;

/**
 * DELETE /deployment-groups/{id}: deletes only the group, or with `members` also its deployments. In that case all deployments are
 * checked, then delete_deployment_environment is started on them as one execution group, whose id is returned. After a crash
 * between the marks, the start and the deletion of the group, a repeated request continues.
 * @throws AppError not_found_error, dependent_exists_error.
 */
export async function deleteGroup(
  deps: Deps,
  principal: Principal,
  id: string,
  members: DeleteOptions | null,
): Promise<string | null> {
  const group = await findGroup(deps.db.query, principal, id);
  if (!group) throw notFound('DeploymentGroup', id);
  requireOwnTenant(principal, group.tenant, `Deployment group \`${id}\``);
  const executionGroupId = members && (await deleteMembers(deps, principal, group, members));
  await deps.db.tx((tx) => deleteRow(tx, group.key));
  return executionGroupId;
}

async function deleteMembers(
  deps: Deps,
  principal: Principal,
  group: GroupRow,
  options: DeleteOptions,
): Promise<string | null> {
  const keys = new Set(await memberKeys(deps.db.query, group.key));
  if (options.recursive)
    for (const key of [...keys])
      for (const child of await descendantKeys(deps.db.query, key)) keys.add(child.key);
  const rows = await readRows(deps, [...keys]);
  for (const row of rows) await checkDeletion(deps, row, [...keys], options);
  if (rows.length === 0) return null;
  const groupId = newId();
  const deletion = { request_id: groupId, force: options.force, delete_logs: options.deleteLogs };
  await deps.db.tx(async (tx) => {
    for (const row of rows) await markDeletion(tx, row.key, deletion);
  });
  await deps.executions.startSystemGroup({
    tenant: group.tenant,
    groupId,
    deploymentGroupId: group.id,
    createdBy: principal.username,
    visibility: group.visibility,
    workflowId: WORKFLOW,
    parameters: { delete_logs: options.deleteLogs, force: options.force, recursive: options.recursive },
    force: options.force,
    concurrency: CONCURRENCY,
    deployments: rows.map((row) => ({
      id: row.id,
      displayName: row.display_name,
      blueprintId: row.blueprint_id ?? '',
      visibility: row.visibility,
    })),
  });
  return groupId;
}

/** Locks and reads the deployments in key order, the lock order of all transactions. */
async function readRows(deps: Deps, keys: number[]): Promise<DeploymentRow[]> {
  const rows: DeploymentRow[] = [];
  await deps.db.tx(async (tx) => {
    for (const key of keys.sort((a, b) => a - b)) {
      const row = await lockDeployment(tx, key);
      if (row) rows.push(row);
    }
  });
  return rows;
}
