import { executionsRpc, identityRpc } from '@baton/contracts';
import { isAppError, type JsonObject } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** The rights that a user has in a tenant now. */
export interface Rights {
  isAdministrator: boolean;
  permissions: readonly string[];
}

export interface TriggerPeers {
  /** Null: the user is gone, may not log in, or is no member of the tenant. */
  rightsOf(username: string, tenant: string): Promise<Rights | null>;
  /** Starts an execution with these rights; the same request id always gives the same execution. Returns its id. */
  start(request: {
    tenant: string;
    requestId: string;
    createdBy: string;
    deploymentId: string;
    workflowId: string;
    parameters: JsonObject;
    rights: Rights;
  }): Promise<string>;
}

export function createTriggerPeers(rpc: RpcConnector): TriggerPeers {
  const identity = rpc.client(identityRpc.IdentityServiceDefinition, 'identity');
  const executions = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  return {
    async rightsOf(username, tenant) {
      try {
        const { principal } = await identity.getPrincipal({ username, tenant });
        if (!principal || principal.tenant !== tenant) return null;
        const has = (name: string): boolean =>
          principal.permissions.includes(name) || principal.isBootstrapAdmin;
        return { isAdministrator: has('administrators'), permissions: principal.permissions };
      } catch (error) {
        const isRefused = ['not_found_error', 'unauthorized_error', 'forbidden_error'].some((code) =>
          isAppError(error, code as 'not_found_error'),
        );
        if (isRefused) return null;
        throw error;
      }
    },
    async start({ parameters, rights, ...request }) {
      const { executionId } = await executions.startExecution({
        ...request,
        parametersJson: JSON.stringify(parameters),
        hasRightsOfUser: true,
        isAdministrator: rights.isAdministrator,
        permissions: [...rights.permissions],
      });
      return executionId;
    },
  };
}
