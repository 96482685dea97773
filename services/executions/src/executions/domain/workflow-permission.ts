import { hasPermission, type Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { UPDATE_DEPLOYMENT } from './system-workflows';

const NEEDED = 'deployment_update_create';

/**
 * A start by name needs no less than the request on the resource that does the same.
 * @throws AppError forbidden_error naming the permission.
 */
export function requireWorkflowPermission(principal: Principal, workflowId: string): void {
  if (workflowId !== UPDATE_DEPLOYMENT || hasPermission(principal, NEEDED)) return;
  throw new AppError(
    'forbidden_error',
    `${principal.username} may not start ${workflowId}: it needs ${NEEDED}`,
    {
      field: 'workflow_id',
      permission: NEEDED,
    },
  );
}
