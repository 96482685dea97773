import { deploymentsRpc, nodesOfModel } from '@baton/contracts';
import type { Json, JsonObject } from '@baton/kernel';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import type { DeploymentModel } from '@baton/task-graph';
import type { ExecutionRow, InstanceStateRow } from '../store/rows';

/** What a start request is checked against. */
export interface DeploymentFacts {
  id: string;
  blueprintId: string;
  displayName: string;
  visibility: string;
  workflows: Record<string, JsonObject>;
  instanceStates: { node_id: string; state: string }[];
  nodeTypes: { type_hierarchy: string[] }[];
  dependents: string[];
  /** The execution that made it: tells it from an earlier or later one of its id. Null: not known. */
  madeBy: string | null;
}

export interface LatestExecution {
  tenant: string;
  deploymentId: string;
  /** Both empty: none. */
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
    /** Dependents that are this deployment or below it do not count; none: ''. */
    leavingWith?: string,
  ): Promise<DeploymentFacts>;
  /** `isWhole`: operations that nobody has implemented and runtime properties too, else what graphs are built from. */
  model(
    tenant: string,
    deploymentId: string,
    options?: { isWhole?: boolean },
  ): Promise<{ blueprintId: string; model: DeploymentModel }>;
  /** Deployments that components of this one have made or use on this manager. */
  components(tenant: string, deploymentId: string): Promise<string[]>;
  /** Of one deployment at most one execution a call. */
  applyStates(executions: readonly DecidedStates[]): Promise<void>;
  /** Members of a deployment group that the caller may see, from a cursor on; `next` 0 = the last ones. */
  groupMembers(
    tenant: string,
    groupId: string,
    caller: { username: string; isAdministrator: boolean },
    after: number,
    limit?: number,
  ): Promise<{ members: DeploymentFacts[]; next: number; visibility: string }>;
  addToGroup(tenant: string, groupId: string, deploymentId: string): Promise<void>;
  /** `username`: on whose behalf secrets are read. */
  evaluate(tenant: string, deploymentId: string, username: string, payload: JsonObject): Promise<JsonObject>;
  /** A change of the model asked by a workflow; repeated with the same name it answers the first result. */
  call(
    of: { tenant: string; deploymentId: string; executionId: string; username: string },
    name: string,
    request: Json,
  ): Promise<Json>;
  /** What deployments show as their latest execution, from a cursor on; `next` 0 = the last ones. */
  latestExecutions(after: number): Promise<{ deployments: LatestExecution[]; next: number }>;
  /** Answers why an execution that succeeded has failed all the same (its dependencies close a circle); '': it has not. */
  executionEnded(of: {
    tenant: string;
    deploymentId: string;
    executionId: string;
    workflowId: string;
    status: string;
    totalOperations: number;
    finishedOperations: number;
    /** Number of the last state, all of which deployments has applied. */
    lastStateSeq: number;
    /** Of the row on which it was decided: an end that is older than what is shown changes nothing there. */
    version: number;
  }): Promise<string>;
}

/** Whose model is changed, and on whose behalf. */
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
    components: async (tenant, deploymentId) =>
      (await client.listComponents({ tenant, deploymentId })).deploymentIds,
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
    ...groupCalls(client),
    executionEnded: async (of) => (await client.executionEnded(of)).failure,
  };
}

type Client = RpcClient<typeof deploymentsRpc.DeploymentsServiceDefinition>;

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
