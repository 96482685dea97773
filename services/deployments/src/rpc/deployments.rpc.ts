import type { deploymentsRpc } from '@baton/contracts';
import { badParameter, type JsonObject } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import { lookUntil } from '@baton/service-runtime';
import { applyExecutionStates } from '../commands/apply-states';
import { callModel } from '../commands/call-model';
import { executionEnded } from '../commands/execution-ended';
import { joinGroup } from '../commands/join-groups';
import { writeRuntimeProperties } from '../commands/node-instances';
import type { ServiceDeps } from '../deps';
import { foldWrites } from '../domain/state-writes';
import { readComponents } from '../queries/components';
import {
  deploymentsOf,
  deploymentsOfBlueprint,
  latestExecutionsAfter,
} from '../queries/deployments-for-services';
import { evaluatePayload } from '../queries/evaluate-payload';
import { groupMembers } from '../queries/group-members';
import { openOperation } from '../queries/open-operation';
import {
  type DeploymentFacts,
  deploymentFacts,
  findVisible,
  requireDeployment,
  workflowModel,
} from '../queries/workflow-model';

const MAX_LISTED = 1000;

type Definition = typeof deploymentsRpc.DeploymentsServiceDefinition;

function parse(field: string, text: string, absent: unknown): unknown {
  if (text === '') return absent;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badParameter(field, `${field} is not JSON: ${(cause as Error).message}`, { expected: 'JSON' });
  }
}

function writesOf(states: readonly deploymentsRpc.StateWrite[]) {
  return foldWrites(
    states.map(({ systemPropertiesJson, ...write }) => ({ ...write, edits: systemPropertiesJson })),
  );
}

/** DeploymentsService (proto/deployments/v1): every call may be repeated. */
export function deploymentsHandlers(deps: ServiceDeps): RpcHandlers<Definition> {
  return {
    ...readHandlers(deps),
    updateNodeInstance: async ({ runtimePropertiesJson, force, ...write }, { lease }) => ({
      version: await writeRuntimeProperties(deps, {
        ...write,
        runtimeProperties: runtimePropertiesJson,
        isForced: force,
        ...(lease && { deploymentId: lease.deploymentId }),
      }),
    }),
    applyExecutionStates: async ({ executions }) => {
      await applyExecutionStates(
        deps,
        executions.map(({ states, ...of }) => ({ ...of, writes: writesOf(states) })),
      );
      return {};
    },
    addToGroup: async ({ tenant, groupId, deploymentId }) => {
      await joinGroup(deps, tenant, groupId, deploymentId);
      return {};
    },
    callModel: async ({ tenant, deploymentId, executionId, callName, requestJson, username }) => {
      const request = parse('request_json', requestJson, null) as JsonObject | null;
      const result = await callModel(deps, {
        tenant,
        deploymentId,
        executionId,
        callName,
        username,
        request: request ?? {},
      });
      return { resultJson: JSON.stringify(result) };
    },
    executionEnded: async ({ tenant, deploymentId, executionId, lastStateSeq, ...end }) => {
      const execution = { id: executionId, ...end };
      const failure = await executionEnded(deps, { tenant, deploymentId, execution, lastStateSeq });
      return { failure: failure ?? '' };
    },
  };
}

type Reads = Pick<
  RpcHandlers<Definition>,
  | 'listGroupMembers'
  | 'listLatestExecutions'
  | 'getDeployment'
  | 'findDeployment'
  | 'getWorkflowModel'
  | 'openOperation'
  | 'evaluateFunctions'
  | 'countDeployments'
  | 'listComponents'
  | 'listDeploymentsOfBlueprint'
>;

/** Lists the latest executions that deployments show, from the cursor `after` on; `next` 0 = end of the list. */
async function listLatest(
  { db }: ServiceDeps,
  after: number,
  limit: number,
): Promise<deploymentsRpc.ListLatestExecutionsResponse> {
  const size = Math.min(limit > 0 ? limit : MAX_LISTED, MAX_LISTED);
  const rows = await latestExecutionsAfter(db.query, after, size);
  const next = rows.length < size ? 0 : rows.at(-1)!.key;
  return { deployments: rows.map(({ key: _, ...row }) => row), next };
}

function factsAnswer(facts: DeploymentFacts): deploymentsRpc.GetDeploymentResponse {
  const { row } = facts;
  return {
    id: row.id,
    tenant: row.tenant,
    blueprintId: row.blueprint_id ?? '',
    displayName: row.display_name,
    visibility: row.visibility,
    createdBy: row.created_by,
    revision: row.revision,
    workflowsJson: facts.workflows,
    labelsJson: row.labels,
    inputsJson: row.inputs ?? '{}',
    installationStatus: row.installation_status,
    instanceStatesJson: row.states,
    nodeTypesJson: JSON.stringify([{ type_hierarchy: row.node_types ?? [] }]),
    dependents: facts.dependents,
    madeBy: row.create_execution ?? '',
    quarantine: row.quarantine ?? '',
  };
}

function readHandlers(deps: ServiceDeps): Reads {
  return {
    getDeployment: async ({ tenant, deploymentId, username, isAdministrator, leavingWith }) => {
      const caller = { username, isAdministrator };
      return factsAnswer(await deploymentFacts(deps, tenant, deploymentId, caller, leavingWith));
    },
    findDeployment: async ({ tenant, deploymentId, username, isAdministrator }) => {
      const row = await findVisible(deps, tenant, deploymentId, { username, isAdministrator });
      return { visibility: row.visibility, createdBy: row.created_by };
    },
    getWorkflowModel: async ({ tenant, deploymentId, forGraph }) => {
      const model = await workflowModel(deps, tenant, deploymentId, { isWhole: !forGraph });
      return {
        blueprintId: model.blueprintId,
        revision: model.revision,
        nodesJson: model.nodes,
        definitionsJson: model.definitions,
        nodeInstancesJson: model.instances,
        scalingGroupsJson: model.scalingGroups,
        deploymentJson: JSON.stringify(model.deployment),
      };
    },
    listGroupMembers: ({ tenant, groupId, username, isAdministrator, after, limit }) =>
      groupMembers(deps, tenant, groupId, { username, isAdministrator }, { after, limit }),
    listLatestExecutions: ({ after, limit }) => listLatest(deps, after, limit),
    openOperation: async (request) => {
      // The operation must see the states that the engine decided before it.
      const { tenant, executionId, states } = request;
      await applyExecutionStates(deps, [{ tenant, executionId, writes: writesOf(states) }]);
      const opened = await openOperation(deps, {
        ...request,
        inputs: request.inputsJson === '' ? '{}' : request.inputsJson,
      });
      return {
        inputsJson: opened.inputs,
        selfJson: JSON.stringify(opened.self),
        relatedJson: opened.related ? JSON.stringify(opened.related) : '',
        deploymentJson: JSON.stringify(opened.deployment),
        secretsJson: opened.secrets.length === 0 ? '' : JSON.stringify(opened.secrets),
      };
    },
    evaluateFunctions: async ({ tenant, deploymentId, payloadJson, contextJson, username }) => {
      const row = await requireDeployment(deps, tenant, deploymentId);
      const payload = parse('payload_json', payloadJson, {}) as JsonObject;
      const context = parse('context_json', contextJson, {}) as JsonObject;
      const from = { db: deps.db.query, secrets: deps.secrets };
      const evaluated = await evaluatePayload(from, row, { username }, payload, context);
      return { payloadJson: JSON.stringify(evaluated) };
    },
    ...listHandlers(deps),
  };
}

/** Longest wait for deployments whose deletion was requested, and the time between two checks. */
const LEAVING = { withinMs: 2_000, everyMs: 50 };

/** Whether all found deployments are about to be deleted, so that a short wait would leave none. */
const areLeaving = (found: readonly { is_leaving: boolean }[]): boolean =>
  found.length > 0 && found.every((one) => one.is_leaving);

function listHandlers({
  db,
}: ServiceDeps): Pick<Reads, 'countDeployments' | 'listComponents' | 'listDeploymentsOfBlueprint'> {
  return {
    countDeployments: async ({ tenant }) => ({ count: await deploymentsOf(db.query, tenant) }),
    listComponents: async ({ tenant, deploymentId }) => ({
      deploymentIds: await readComponents(db.query, tenant, deploymentId),
    }),
    listDeploymentsOfBlueprint: async ({ tenant, blueprintId, limit }, { signal }) => {
      const most = Math.min(limit > 0 ? limit : MAX_LISTED, MAX_LISTED);
      // A deployment is deleted a moment after the end of the execution that deletes it, and a client that waited for that end may
      // delete the blueprint next.
      const left = await lookUntil(
        () => deploymentsOfBlueprint(db.query, tenant, blueprintId, most),
        (found) => !areLeaving(found),
        { ...LEAVING, signal },
      );
      return { deploymentIds: left.map(({ id }) => id) };
    },
  };
}
