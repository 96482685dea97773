import type { Principal } from '@baton/contracts';
import { requireOwnTenant } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { dependentsError } from '../domain/dependents';
import { descendantKeys, readDependents } from '../store/dependencies.sql';
import { type DeploymentRow, findDeployment, lockDeployment, markDeletion } from '../store/deployments.sql';
import { liveInstances } from '../store/node-instances.sql';

type Deps = Pick<ServiceDeps, 'db' | 'executions'>;

export interface DeleteOptions {
  /** Ignores live node instances and dependents. */
  force: boolean;
  deleteLogs: boolean;
  /** Children by csys-obj-parent do not block and are deleted as well. */
  recursive: boolean;
}

/**
 * DELETE /deployments/{id} (reference/rest-api.md 5.2): checks, then starts delete_deployment_environment, whose end
 * removes the row (commands/execution-ended.ts). A crash between the mark and the start is repaired by asking again.
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

/** @throws AppError dependent_exists_error: what keeps the deployment, `family` and its dependents left out. */
export async function checkDeletion(
  deps: Deps,
  row: DeploymentRow,
  family: readonly number[],
  options: DeleteOptions,
): Promise<void> {
  if (!options.force) {
    const all = await readDependents(deps.db.query, row.key, family);
    // A parent that is being uninstalled deletes its components.
    const dependents = all.filter((dependent) => !dependent.isLeaving);
    if (dependents.length > 0) throw dependentsError('delete', row.id, dependents);
  }
  const active = await deps.executions.active(row.tenant, row.id);
  if (active.length > 0) {
    throw new AppError(
      'dependent_exists_error',
      `Cannot delete deployment \`${row.id}\`: executions of it run or are queued: ${active.map((e) => `${e.workflow_id} (${e.id}, ${e.status})`).join(', ')}`,
      {
        executions: active.map((e) => e.id),
        expected: 'no active executions',
      },
    );
  }
  if (options.force) return;
  const live = await liveInstances(deps.db.query, row.key);
  if (live.length > 0) {
    throw new AppError(
      'dependent_exists_error',
      `Cannot delete deployment \`${row.id}\`: it has live node instances: ${live.join(', ')}${live.length === 5 ? ', ...' : ''}`,
      {
        node_instances: live,
        expected: 'every node instance uninitialized or deleted, or force',
      },
    );
  }
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
