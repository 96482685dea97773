import { deploymentsRpc, nodesOfModel, type OperationAssignment } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import type { InstanceRecord, NodeRecord, OpenedModel, SideRecord } from '@baton/plugin-runtime';
import type { HeldProof, RpcConnector } from '@baton/rpc';

export interface RuntimePropertiesWrite {
  instanceId: string;
  version: number;
  properties: JsonObject;
  taskId: string;
  attempt: number;
}

/** The calls by which operations read and write the model. */
export interface DeploymentsClient {
  open(assignment: OperationAssignment, lease: HeldProof): Promise<OpenedModel & { secrets: unknown[] }>;
  /**
   * @throws AppError conflict_error when another writer was first, stale_attempt_error when the lease has passed to another
   * worker.
   */
  saveRuntimeProperties(
    assignment: OperationAssignment,
    write: RuntimePropertiesWrite,
    lease: HeldProof,
  ): Promise<number>;
  readModel(
    tenant: string,
    deploymentId: string,
    lease: HeldProof,
  ): Promise<{ nodes: NodeRecord[]; instances: InstanceRecord[]; scalingGroups: JsonObject }>;
}

export function createDeploymentsClient(rpc: RpcConnector): DeploymentsClient {
  const client = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  return {
    open: async (assignment, lease) => {
      const asked = {
        tenant: assignment.tenant,
        deploymentId: assignment.deploymentId,
        executionId: assignment.executionId,
        nodeInstanceId: assignment.self?.nodeInstanceId ?? '',
        relatedInstanceId: assignment.related?.nodeInstanceId ?? '',
        isSource: assignment.related?.isTarget ?? false,
        inputsJson: JSON.stringify(assignment.inputs),
        hasFunctions: assignment.hasFunctions,
        states: assignment.states.map(({ systemProperties, ...state }) => ({
          ...state,
          systemPropertiesJson: isEmpty(systemProperties) ? '' : JSON.stringify(systemProperties),
        })),
        username: assignment.createdBy,
      };
      const answer = await client.openOperation(asked, { lease });
      return {
        inputs:
          answer.inputsJson === ''
            ? (assignment.inputs as JsonObject)
            : (JSON.parse(answer.inputsJson) as JsonObject),
        self: readSide(answer.selfJson),
        related: readSide(answer.relatedJson),
        secrets: answer.secretsJson === '' ? [] : (JSON.parse(answer.secretsJson) as unknown[]),
        deployment: answer.deploymentJson === '' ? {} : (JSON.parse(answer.deploymentJson) as JsonObject),
      };
    },
    saveRuntimeProperties: async (
      { tenant, executionId },
      { instanceId, version, properties, taskId, attempt },
      lease,
    ) => {
      const asked = {
        tenant,
        executionId,
        nodeInstanceId: instanceId,
        version,
        runtimePropertiesJson: JSON.stringify(properties),
        taskId,
        attempt,
      };
      return (await client.updateNodeInstance(asked, { lease })).version;
    },
    readModel: async (tenant, deploymentId, lease) => {
      const answer = await client.getWorkflowModel({ tenant, deploymentId }, { lease });
      return {
        nodes: nodesOfModel<NodeRecord>(answer.nodesJson, answer.definitionsJson),
        instances: JSON.parse(answer.nodeInstancesJson) as InstanceRecord[],
        scalingGroups: JSON.parse(answer.scalingGroupsJson || '{}') as JsonObject,
      };
    },
  };
}

type Relationship = { type: string; type_hierarchy?: string[]; target_id: string };

function readSide(json: string): SideRecord | null {
  const side = json === '' ? null : (JSON.parse(json) as SideRecord | null);
  if (!side) return null;
  const { node, instance } = side;
  instance.runtime_properties ??= {};
  // Instances have only the type; the node's relationship to the same target has its type hierarchy.
  const declared = (node as { relationships?: Relationship[] }).relationships ?? [];
  for (const relationship of instance.relationships ?? []) {
    const same = declared.find(
      (d) => d.type === relationship.type && d.target_id === relationship.target_name,
    );
    relationship.type_hierarchy ??= same?.type_hierarchy ?? [relationship.type];
  }
  return side;
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}
