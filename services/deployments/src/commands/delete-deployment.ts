import type { Principal } from '@baton/contracts';
import { requireOwnTenant } from '@baton/contracts';
import { newId, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { refuseQuarantined } from '../imports/quarantine';
import { deletionBlockers, deletionFacts } from '../queries/deletion-blockers';
import { descendantKeys } from '../store/dependencies.sql';
import { type DeploymentRow, findDeployment, lockDeployment, markDeletion } from '../store/deployments.sql';

type Deps = Pick<ServiceDeps, 'db' | 'executions' | 'texts'>;

export interface DeleteOptions {
  /** Ignores live node instances and dependents. */
  force: boolean;
  deleteLogs: boolean;
  /** Children by csys-obj-parent do not block and are deleted as well. */
  recursive: boolean;
}

/**
 * DELETE /deployments/{id} (reference/rest-api.md 5.2): checks, then starts delete_deployment_environment, whose end removes the
 * row (commands/execution-ended.ts). After a crash between the mark and the start, a repeated request starts it.
 */
export async function deleteDeployment(
  deps: Deps,
  principal: Principal,
  id: string,
  options: DeleteOptions,
): Promise<void> {
  const row = await findDeployment(deps.db.query, principal, id);
  if (!row) throw notFound('Deployment', id);
  requireOwnTenant(principal, row.tenant, `Deployment \`${id}\``);
  const children = options.recursive ? await descendantKeys(deps.db.query, row.key) : [];
  const family = [...children.map((child) => child.key), row.key];
  for (const key of family)
    await checkDeletion(deps, key === row.key ? row : await named(deps, key, row), family, options);
  for (const child of children) await startDeletion(deps, principal, child.key, options);
  await startDeletion(deps, principal, row.key, options);
}

async function named(deps: Deps, key: number, parent: DeploymentRow): Promise<DeploymentRow> {
  const child = await deps.db.tx((tx) => lockDeployment(tx, key));
  return child ?? parent;
}

/** Checks a deletion. @throws AppError dependent_exists_error for the first blocker; dependents in `family` do not count. */
export async function checkDeletion(
  deps: Deps,
  row: DeploymentRow,
  family: readonly number[],
  options: Pick<DeleteOptions, 'force'>,
): Promise<void> {
  // By force only what is stored here goes; nothing runs on what the deployment manages.
  if (!options.force) await refuseQuarantined(deps.db.query, row);
  const first = await deletionBlockers(row, deletionFacts(deps, row, family), options).next();
  if (!first.done) throw first.value.refusal;
}

async function startDeletion(
  deps: Deps,
  principal: Principal,
  key: number,
  options: DeleteOptions,
): Promise<void> {
  const requestId = newId();
  const row = await deps.db.tx(async (tx) => {
    const locked = await lockDeployment(tx, key);
    if (locked)
      await markDeletion(tx, key, {
        request_id: requestId,
        force: options.force,
        delete_logs: options.deleteLogs,
      });
    return locked;
  });
  if (!row) return;
  await deps.executions.startSystemWorkflow({
    tenant: row.tenant,
    requestId,
    createdBy: principal.username,
    deploymentId: row.id,
    deploymentDisplayName: row.display_name,
    blueprintId: row.blueprint_id ?? '',
    visibility: row.visibility,
    workflowId: 'delete_deployment_environment',
    parameters: { delete_logs: options.deleteLogs, force: options.force, recursive: options.recursive },
    force: options.force,
  });
}
