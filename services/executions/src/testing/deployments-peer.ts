import { deploymentsRpc } from '@baton/contracts';
import { AppError, type JsonObject } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import type { NodeInstance, PlanNode } from '@baton/task-graph';

interface PeerCall {
  call: string;
  of?: { call: string };
}

/** A deployment of the contract peer: the data that the engine reads and writes, in memory. */
export interface PeerDeployment {
  nodes: PlanNode[];
  instances: NodeInstance[];
  workflows: Record<string, JsonObject>;
  /** The execution that created it. */
  madeBy?: string;
  /** Source of an imported deployment that is not activated. */
  quarantine?: string;
}

/**
 * Creates a contract peer of the deployments service for tests of the engine: it follows the rules of the rpc and does nothing
 * else.
 */
export function createDeploymentsPeer() {
  const deployments = new Map<string, PeerDeployment>();
  const applied = new Map<string, number>();
  const ended: { executionId: string; status: string }[] = [];
  /** Deployment -> reason why executions that succeed on it count as failed. */
  const failures = new Map<string, string>();
  /** Deployment -> its components. */
  const components = new Map<string, string[]>();
  /** Group id -> members in order. */
  const groups = new Map<string, string[]>();
  /** The latest execution that each deployment shows. The peer is informed only of executions that have ended. */
  const latest = new Map<string, { executionId: string; status: string; version: number }>();
  /** Changes of the model that workflows requested. */
  const calls: PeerCall[] = [];
  let answerCall: (request: PeerCall, deploymentId: string) => unknown = () => null;
  let isDown = false;
  let duringEnd: ((executionId: string) => Promise<void>) | null = null;
  let duringFacts: ((deploymentId: string) => Promise<void>) | null = null;
  const get = (id: string): PeerDeployment => {
    if (isDown) throw new AppError('service_unavailable_error', 'deployments is down');
    const found = deployments.get(id);
    if (!found) throw new AppError('not_found_error', `Deployment ${id} was not found`);
    return found;
  };
  const notUsed = async (): Promise<never> => {
    throw new AppError('internal_server_error', 'the peer does not serve this call');
  };
  const handlers: RpcHandlers<typeof deploymentsRpc.DeploymentsServiceDefinition> = {
    countDeployments: notUsed,
    findDeployment: async () => ({ visibility: 'tenant', createdBy: 'admin' }),
    getDeployment: async ({ deploymentId, tenant }) => {
      await duringFacts?.(deploymentId);
      const { nodes, instances, workflows, madeBy = '', quarantine = '' } = get(deploymentId);
      return {
        ...deploymentsRpc.GetDeploymentResponse.fromPartial({
          madeBy,
          quarantine,
          id: deploymentId,
          tenant,
          blueprintId: 'bp',
          displayName: deploymentId,
          visibility: 'tenant',
          createdBy: 'admin',
        }),
        workflowsJson: JSON.stringify(workflows),
        instanceStatesJson: JSON.stringify(instances.map(({ node_id, state }) => ({ node_id, state }))),
        nodeTypesJson: JSON.stringify(nodes.map(({ id, type_hierarchy }) => ({ id, type_hierarchy }))),
      };
    },
    getWorkflowModel: async ({ deploymentId }) => {
      const { nodes, instances } = get(deploymentId);
      return deploymentsRpc.GetWorkflowModelResponse.fromPartial({
        blueprintId: 'bp',
        nodesJson: JSON.stringify(nodes),
        nodeInstancesJson: JSON.stringify(instances),
      });
    },
    applyExecutionStates: async ({ executions }) => {
      for (const { deploymentId, executionId, states } of executions) {
        const { instances } = get(deploymentId);
        for (const write of states) {
          const key = `${executionId}/${write.nodeInstanceId}`;
          if ((applied.get(key) ?? 0) >= write.seq) continue;
          applied.set(key, write.seq);
          const instance = instances.find((one) => one.id === write.nodeInstanceId);
          if (instance && write.state !== '') instance.state = write.state;
        }
      }
      return {};
    },
    evaluateFunctions: async ({ payloadJson }) => ({ payloadJson }),
    executionEnded: async ({ deploymentId, executionId, status, version }) => {
      // A deleted deployment ignores the end.
      if (!isDown && !deployments.has(deploymentId)) return { failure: '' };
      get(deploymentId);
      await duringEnd?.(executionId);
      ended.push({ executionId, status });
      const known = latest.get(deploymentId) ?? { executionId: '', version: 0 };
      const isOlder = known.executionId === executionId && version < known.version;
      if (known.executionId <= executionId && !isOlder)
        latest.set(deploymentId, { executionId, status, version });
      return { failure: status === 'terminated' ? (failures.get(deploymentId) ?? '') : '' };
    },
    listGroupMembers: async ({ groupId, after, limit }) => {
      const ids = groups.get(groupId);
      if (!ids) throw new AppError('not_found_error', `Group ${groupId} was not found`);
      const page = ids.slice(after, after + limit);
      return {
        visibility: 'tenant',
        next: after + limit < ids.length ? after + limit : 0,
        workflowsJson: Object.fromEntries(page.map((id) => [id, JSON.stringify(get(id).workflows)])),
        members: page.map((id) => {
          const { nodes, instances } = get(id);
          return {
            id,
            blueprintId: 'bp',
            displayName: id,
            visibility: 'tenant',
            workflowsKey: id,
            instanceStatesJson: JSON.stringify(instances.map(({ node_id, state }) => ({ node_id, state }))),
            nodeTypesJson: JSON.stringify(
              nodes.map((node) => ({ id: node.id, type_hierarchy: node.type_hierarchy })),
            ),
            dependents: [],
            madeBy: get(id).madeBy ?? '',
            quarantine: get(id).quarantine ?? '',
          };
        }),
      };
    },
    listLatestExecutions: async () => {
      if (isDown) throw new AppError('service_unavailable_error', 'deployments is down');
      return {
        deployments: [...deployments.keys()].map((deploymentId) => {
          const shown = latest.get(deploymentId) ?? { executionId: '', status: '' };
          return { tenant: 'default_tenant', deploymentId, ...shown };
        }),
        next: 0,
      };
    },
    addToGroup: async ({ groupId, deploymentId }) => {
      const ids = groups.get(groupId);
      if (ids && !ids.includes(deploymentId)) ids.push(deploymentId);
      return {};
    },
    openOperation: notUsed,
    updateNodeInstance: notUsed,
    listDeploymentsOfBlueprint: notUsed,
    listComponents: async ({ deploymentId }) => {
      if (isDown) throw new AppError('service_unavailable_error', 'deployments is down');
      return { deploymentIds: components.get(deploymentId) ?? [] };
    },
    callModel: async ({ deploymentId, requestJson }) => {
      get(deploymentId);
      const request = JSON.parse(requestJson) as PeerCall;
      calls.push(request);
      return { resultJson: JSON.stringify(answerCall(request, deploymentId)) };
    },
  };
  return {
    deployments,
    components,
    failures,
    groups,
    handlers,
    ended,
    latest,
    calls,
    answerCalls: (answer: (request: PeerCall, deploymentId: string) => unknown) => void (answerCall = answer),
    setDown: (down: boolean) => void (isDown = down),
    /** Sets work to run each time before the peer returns the facts for a start request; null: none. */
    duringFacts: (work: ((deploymentId: string) => Promise<void>) | null) => void (duringFacts = work),
    /** Sets work to run each time while the peer receives the end of an execution; null: none. */
    duringEnds: (work: ((executionId: string) => Promise<void>) | null) => void (duringEnd = work),
  };
}

const LIFECYCLE = 'cloudify.interfaces.lifecycle';

/** Creates a deployment of nodes that depend on each other, each with the given lifecycle operations. */
export function peerDeployment(
  dependsOn: Record<string, string[]>,
  operations = ['create', 'start', 'stop', 'delete'],
): PeerDeployment {
  const operation = {
    plugin: 'probe',
    operation: 'probe.op',
    executor: 'central_deployment_agent',
    inputs: {},
  };
  const nodes = Object.entries(dependsOn).map(
    ([id, targets]): PlanNode => ({
      id,
      type: 'probe.Node',
      type_hierarchy: ['cloudify.nodes.Root', 'probe.Node'],
      properties: {},
      operations: Object.fromEntries(operations.map((name) => [`${LIFECYCLE}.${name}`, operation])),
      relationships: targets.map((target) => ({
        type: 'cloudify.relationships.depends_on',
        target_id: target,
      })),
    }),
  );
  const instances = Object.entries(dependsOn).map(
    ([id, targets]): NodeInstance => ({
      id: `${id}_1`,
      node_id: id,
      state: 'uninitialized',
      relationships: targets.map((target) => ({
        type: 'cloudify.relationships.depends_on',
        target_id: `${target}_1`,
        target_name: target,
      })),
    }),
  );
  const workflow = (name: string) => ({
    plugin: 'default_workflows',
    operation: `cloudify.plugins.workflows.${name}`,
    parameters: {},
  });
  const names = ['install', 'uninstall', 'reinstall', 'start', 'stop', 'restart', 'check_status'];
  return { nodes, instances, workflows: Object.fromEntries(names.map((name) => [name, workflow(name)])) };
}
