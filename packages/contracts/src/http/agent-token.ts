/**
 * What the token of an execution opens that was given to an agent. The host of an agent belongs to one deployment, and may be in
 * other hands than the manager: so the token opens only what the operation itself needs, and no secret.
 */

/** The names by which the execution of a token is known to the gateway. */
export type AgentTokenName = 'tenant' | 'deploymentId' | 'blueprintId';

export interface AgentTokenRule {
  /** Path parameters and the names that they must have. */
  params?: Readonly<Record<string, AgentTokenName>>;
  /** Query arguments that must be given once, with these names. */
  filters?: Readonly<Record<string, AgentTokenName>>;
  /** Path parameter that must be one of the node instances that the token names. */
  instance?: string;
  /**
   * What the gateway cannot see in the request: the service that owns the route checks it, by `agentDeploymentId` and
   * `agentInstances` of the caller.
   */
  checkedByService?: string;
}

/** By the id of the route; every other route is closed. */
export const agentTokenRoutes: Readonly<Record<string, AgentTokenRule>> = {
  getDeployment: { params: { id: 'deploymentId' } },
  listNodes: { filters: { deployment_id: 'deploymentId' } },
  listNodeInstances: { filters: { deployment_id: 'deploymentId' } },
  getNodeInstance: { checkedByService: 'the instance is of the deployment' },
  patchNodeInstance: {
    instance: 'id',
    checkedByService:
      'the instance is of the deployment and named by the token, and only runtime properties change',
  },
  createEvents: { checkedByService: 'the execution is that of the token' },
  getBlueprintResource: { params: { tenant_name: 'tenant', blueprint_id: 'blueprintId' } },
};

/** Query arguments that the token closes on every route: intrinsic functions may name secrets, and other tenants are not its own. */
export const closedToAgentToken: readonly string[] = ['_evaluate_functions', '_all_tenants', 'force'];
