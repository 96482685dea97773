import { isAdministrator, type Ownership, ownershipOf, type Principal } from '@baton/contracts';
import { executionGroupAction, executionGroupRoutes } from '@baton/contracts/http/execution-groups';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { AppError, badParameter, type JsonObject, nearestName, newId, notFound } from '@baton/kernel';
import { requireWorkflowPermission } from '../../executions/domain/workflow-permission';
import type { Ports } from '../../ports';
import { type ActOnGroupDeps, actOnGroup, type GroupAction } from '../commands/act-on-group';
import { changeExecutionGroup } from '../commands/change-execution-group';
import { createExecutionGroup } from '../commands/create-execution-group';
import type { GroupRequest } from '../domain/group-members';
import { listExecutionGroups, readExecutionGroup, visibleGroup } from '../queries/execution-groups';
import type { GroupsWire } from './wire-policy';

type ExecutionGroupsRoutesDeps = Pick<Ports, 'db' | 'findUser'> & ActOnGroupDeps;

const DEFAULT_CONCURRENCY = 5;

/** Execution groups (reference/rest-api.md 5.8). */
export function executionGroupsHttp(deps: ExecutionGroupsRoutesDeps, wire: GroupsWire): BoundRoute[] {
  const read = (call: HttpCall) => readExecutionGroup(deps.db.query, call.principal, call.params.id!, wire);
  return bindRoutes(executionGroupRoutes, {
    async listExecutionGroups(call) {
      const { principal, list, query } = call;
      const page = await listExecutionGroups(deps.db.query, principal, list, wire, query._get_data ?? false);
      return listEnvelope(page, list);
    },
    getExecutionGroup: (call) => read(call),
    async createExecutionGroup(call) {
      const owner = await ownershipOf(call.principal, call.body, deps.findUser);
      const request = groupRequestOf(call, owner);
      const earlier = await repeated(deps, wire, call, request);
      if (earlier) return earlier;
      return await createExecutionGroup(deps, request, (tx) =>
        readExecutionGroup(tx, call.principal, request.groupId, wire),
      );
    },
    async actOnExecutionGroup(call) {
      const group = await visibleGroup(deps.db.query, call.principal, call.params.id!);
      const action = actionOf(call.body.action);
      const count = await actOnGroup(deps, group, action);
      if (count === 0 && wire.refusesEmptyActions && !action.endsWith('resume'))
        throw notFound('Execution', group.id);
      return await read(call);
    },
    async patchExecutionGroup(call) {
      const group = await visibleGroup(deps.db.query, call.principal, call.params.id!);
      await changeExecutionGroup(deps, group, callerOf(call.principal), call.body);
      return await read(call);
    },
  });
}

const callerOf = (principal: Principal) => ({
  username: principal.username,
  isAdministrator: isAdministrator(principal),
});

/** @throws AppError bad_parameters_error naming the nearest action. */
function actionOf(text: string): GroupAction {
  const known = executionGroupAction.options.find((option) => option === text);
  if (known) return known;
  throw badParameter('action', `Invalid action: ${text}`, {
    expected: executionGroupAction.options,
    nearest: nearestName(text, executionGroupAction.options),
  });
}

/** Returns the group that an earlier request with the same Idempotency-Key created: the key is its id. */
async function repeated(
  deps: ExecutionGroupsRoutesDeps,
  wire: GroupsWire,
  call: HttpCall,
  request: GroupRequest,
): Promise<Record<string, unknown> | null> {
  if (call.idempotencyKey === undefined || call.body.id) return null;
  const group = await readExecutionGroup(deps.db.query, call.principal, request.groupId, wire).catch(
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found_error') return null;
      throw error;
    },
  );
  if (!group) return null;
  if (group.workflow_id === request.workflowId && group.deployment_group_id === request.deploymentGroupId)
    return group;
  throw new AppError('conflict_error', 'The idempotency key was used before with another request', {
    field: 'Idempotency-Key',
  });
}

function groupRequestOf(call: HttpCall, owner: Ownership): GroupRequest {
  const { body, principal } = call;
  requireWorkflowPermission(principal, body.workflow_id);
  return {
    tenant: principal.tenant,
    createdBy: owner.createdBy,
    isAdministrator: isAdministrator(principal),
    groupId: body.id ?? call.idempotencyKey ?? newId(),
    deploymentGroupId: body.deployment_group_id,
    workflowId: body.workflow_id,
    defaultParameters: (body.default_parameters ?? {}) as JsonObject,
    parameters: (body.parameters ?? {}) as Record<string, JsonObject>,
    isForced: body.force ?? false,
    concurrency: body.concurrency ?? DEFAULT_CONCURRENCY,
    visibility: body.visibility ?? null,
    createdAt: owner.createdAt,
    ...(body.associated_executions?.length > 0 && { associated: body.associated_executions }),
  };
}
