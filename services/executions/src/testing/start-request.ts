import { newId } from '@baton/kernel';
import type { StartRequest } from '../executions/domain/start-request';

/** An install of the administrator in default_tenant, asked for once. */
export const startRequest = (
  deploymentId: string | null,
  more: Partial<StartRequest> = {},
): StartRequest => ({
  tenant: 'default_tenant',
  createdBy: 'admin',
  isAdministrator: true,
  requestId: newId(),
  workflowId: 'install',
  deploymentId,
  parameters: {},
  allowCustomParameters: false,
  isForced: false,
  mayQueue: false,
  isDryRun: false,
  waitAfterFailS: 600,
  scheduledForMs: null,
  isSystemWorkflow: false,
  ...more,
});
