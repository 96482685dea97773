import { hasPermission, type Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { UPDATE_DEPLOYMENT } from './system-workflows';

const NEEDED = 'deployment_update_create';

/**
 * Checks the permission for a start by name: it needs the same permission as the request on the resource that does the same.
 * @throws AppError forbidden_error naming the permission.
 */
export function requireWorkflowPermission(principal: Principal, workflowId: string): void {
  const permissions = hasPermission(principal, NEEDED) ? [NEEDED] : [];
  requireWorkflowPermissionAmong(permissions, { createdBy: principal.username, workflowId });
}

/** The same for a user whose permissions another service has read. @throws AppError forbidden_error naming the permission. */
export function requireWorkflowPermissionAmong(
  permissions: readonly string[],
  { createdBy, workflowId }: { createdBy: string; workflowId: string },
): void {
  if (workflowId !== UPDATE_DEPLOYMENT || permissions.includes(NEEDED)) return;
  throw new AppError('forbidden_error', `${createdBy} may not start ${workflowId}: it needs ${NEEDED}`, {
    field: 'workflow_id',
    permission: NEEDED,
  });
}
