import { newId } from '@baton/kernel';
import { type StartRequest, startRequest as withDefaults } from '../executions/domain/start-request';

/** Returns a request for an install by the administrator in default_tenant, with its own request id. */
export const startRequest = (deploymentId: string | null, more: Partial<StartRequest> = {}): StartRequest =>
  withDefaults({
    tenant: 'default_tenant',
    createdBy: 'admin',
    isAdministrator: true,
    requestId: newId(),
    workflowId: 'install',
    deploymentId,
    parameters: {},
    ...more,
  });
