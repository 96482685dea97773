import { deploymentsRpc, nodesOfModel } from '@baton/contracts';
import { type Json, type JsonObject, nullIfNotFound } from '@baton/kernel';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import type { DeploymentModel } from '@baton/task-graph';
import type { ExecutionRow, InstanceStateRow } from '../store/rows';

/** The facts of a deployment that a start request is checked against. */
export interface DeploymentFacts {
  id: string;
  blueprintId: string;
  displayName: string;
  visibility: string;
  workflows: Record<string, JsonObject>;
  instanceStates: { node_id: string; state: string }[];
  nodeTypes: { type_hierarchy: string[] }[];
  dependents: string[];
  /**
   * The execution that created the deployment: distinguishes it from an earlier or later deployment with the same id. Null: not
   * known.
   */
  madeBy: string | null;
  /** Source of an imported deployment that is not activated: nothing may start on it. Empty: none. */
  quarantine: string;
}

export interface LatestExecution {
  tenant: string;
  deploymentId: string;
  /** Id and status are both empty when there is none. */
  executionId: string;
  status: string;
}

/** The deployments service as the engine sees it. */
/** Node-instance states that an execution has decided, in their order. */
export interface DecidedStates {
  tenant: string;
  deploymentId: string;
  executionId: string;
  states: readonly InstanceStateRow[];
}

export interface DeploymentsPort {
  facts(
    tenant: string,
    deploymentId: string,
    caller: { username: string; isAdministrator: boolean },
    /** Dependents that are this deployment or below it do not count; '' when there is none. */
    leavingWith?: string,
  ): Promise<DeploymentFacts>;
  /** Returns the owner and visibility of the deployment; null when there is none. */
  owner(tenant: string, deploymentId: string): Promise<{ createdBy: string; visibility: string } | null>;
  /**
   * `isWhole`: includes operations without an implementation and runtime properties; without it, only the parts that graphs are
   * built from.
   */
  model(
    tenant: string,
    deploymentId: string,
    options?: { isWhole?: boolean },
  ): Promise<{ blueprintId: string; model: DeploymentModel }>;
  /** Returns the deployments that components of this one have created or use on this manager. */
  components(tenant: string, deploymentId: string): Promise<string[]>;
  /** Applies states; one call may contain at most one execution of each deployment. */
  applyStates(executions: readonly DecidedStates[]): Promise<void>;
  /** Returns the members of a deployment group that the caller may see, from a cursor on; `next` 0: no more members. */
  groupMembers(
    tenant: string,
    groupId: string,
    caller: { username: string; isAdministrator: boolean },
    after: number,
    limit?: number,
  ): Promise<{ members: DeploymentFacts[]; next: number; visibility: string }>;
  addToGroup(tenant: string, groupId: string, deploymentId: string): Promise<void>;
  /** `username`: the user on whose behalf secrets are read. */
  evaluate(tenant: string, deploymentId: string, username: string, payload: JsonObject): Promise<JsonObject>;
  /** Changes the model on request of a workflow; a repeated call with the same name returns the first result. */
  call(
    of: { tenant: string; deploymentId: string; executionId: string; username: string },
    name: string,
    request: Json,
  ): Promise<Json>;
  /** Returns the execution that each deployment shows as its latest, from a cursor on; `next` 0: no more deployments. */
  latestExecutions(after: number): Promise<{ deployments: LatestExecution[]; next: number }>;
  /**
   * Reports the end of an execution. Returns the reason when an execution that succeeded counts as failed nevertheless (its
   * dependencies form a cycle); else ''.
   */
  executionEnded(of: {
    tenant: string;
    deploymentId: string;
    executionId: string;
    workflowId: string;
    status: string;
    totalOperations: number;
    finishedOperations: number;
    /** Number of the last state; deployments has applied all states up to it. */
    lastStateSeq: number;
    /** Version of the row on which the end was decided: an end older than the shown one changes nothing. */
    version: number;
  }): Promise<string>;
}

/** Returns the deployment whose model is changed, and the user on whose behalf. */
export function callerOf({ tenant, id, deployment_id, created_by }: ExecutionRow) {
  return { tenant, deploymentId: deployment_id ?? '', executionId: id, username: created_by };
}

const MODEL_DEADLINE_MS = 30_000;
const GROUP_PAGE = 500;
const LATEST_PAGE = 1000;

export function createDeploymentsClient(rpc: RpcConnector): DeploymentsPort {
  const client = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  return {
    async facts(tenant, deploymentId, caller, leavingWith = '') {
      const d = await client.getDeployment({ tenant, deploymentId, ...caller, leavingWith });
      return {
        id: d.id,
        blueprintId: d.blueprintId,
        displayName: d.displayName,
        visibility: d.visibility,
        workflows: parse(d.workflowsJson, {}),
        instanceStates: parse(d.instanceStatesJson, []),
        nodeTypes: parse(d.nodeTypesJson, []),
        dependents: d.dependents,
        madeBy: d.madeBy || null,
        quarantine: d.quarantine,
      };
    },
    async model(tenant, deploymentId, { isWhole = false } = {}) {
      const answer = await client.getWorkflowModel(
        { tenant, deploymentId, forGraph: !isWhole },
        { deadlineMs: MODEL_DEADLINE_MS },
      );
      const model: DeploymentModel = {
        nodes: nodesOfModel<DeploymentModel['nodes'][number]>(answer.nodesJson, answer.definitionsJson),
        nodeInstances: parse(answer.nodeInstancesJson, []),
        scalingGroups: parse(answer.scalingGroupsJson, {}),
        ...parse<Partial<DeploymentModel>>(answer.deploymentJson, {}),
      };
      return { blueprintId: answer.blueprintId, model };
    },
    async applyStates(executions) {
      await client.applyExecutionStates({
        executions: executions.map(({ states, ...of }) => ({ ...of, states: states.map(stateWriteOf) })),
      });
    },
    async evaluate(tenant, deploymentId, username, payload) {
      const answer = await client.evaluateFunctions({
        tenant,
        deploymentId,
        payloadJson: JSON.stringify(payload),
        contextJson: '{}',
        username,
      });
      return parse(answer.payloadJson, {});
    },
    async call(of, callName, request) {
      const answer = await client.callModel(
        { ...of, callName, requestJson: JSON.stringify(request) },
        { deadlineMs: MODEL_DEADLINE_MS },
      );
      return parse(answer.resultJson, null);
    },
    latestExecutions: (after) => client.listLatestExecutions({ after, limit: LATEST_PAGE }),
    ...shortCalls(client),
    ...groupCalls(client),
    executionEnded: async (of) => (await client.executionEnded(of)).failure,
  };
}

type Client = RpcClient<typeof deploymentsRpc.DeploymentsServiceDefinition>;

function shortCalls(client: Client): Pick<DeploymentsPort, 'components' | 'owner'> {
  return {
    components: async (tenant, deploymentId) =>
      (await client.listComponents({ tenant, deploymentId })).deploymentIds,
    owner: (tenant, deploymentId) =>
      nullIfNotFound(client.findDeployment({ tenant, deploymentId, username: '', isAdministrator: true })),
  };
}

function groupCalls(client: Client): Pick<DeploymentsPort, 'groupMembers' | 'addToGroup'> {
  return {
    async groupMembers(tenant, groupId, caller, after, limit = GROUP_PAGE) {
      const request = { tenant, groupId, ...caller, after, limit };
      const answer = await client.listGroupMembers(request, { deadlineMs: MODEL_DEADLINE_MS });
      const workflows = new Map(
        Object.entries(answer.workflowsJson).map(([key, text]) => [
          key,
          parse<DeploymentFacts['workflows']>(text, {}),
        ]),
      );
      const members = answer.members.map(
        (one): DeploymentFacts => ({
          id: one.id,
          blueprintId: one.blueprintId,
          displayName: one.displayName,
          visibility: one.visibility,
          workflows: workflows.get(one.workflowsKey) ?? {},
          instanceStates: parse(one.instanceStatesJson, []),
          nodeTypes: parse(one.nodeTypesJson, []),
          dependents: one.dependents,
          madeBy: one.madeBy || null,
          quarantine: one.quarantine,
        }),
      );
      return { members, next: answer.next, visibility: answer.visibility };
    },
    addToGroup: async (tenant, groupId, deploymentId) =>
      void (await client.addToGroup({ tenant, groupId, deploymentId })),
  };
}

function stateWriteOf(state: InstanceStateRow) {
  return {
    nodeInstanceId: state.node_instance_id,
    state: state.state ?? '',
    seq: state.seq,
    systemPropertiesJson: state.edits ? JSON.stringify(state.edits) : '',
  };
}

function parse<T>(text: string, empty: T): T {
  return text === '' ? empty : (JSON.parse(text) as T);
}
