import { AppError, badParameter, isAppError, isUuid, newId } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { DeploymentFacts } from '../../adapters/deployments.client';
import { groupLog } from '../../events/domain/graph-events';
import { appendGroupEvents } from '../../events/store/events.sql';
import { requireQueueRoom } from '../../executions/commands/queue-room';
import { nameSources, type StartSubjectDeps } from '../../executions/commands/start-subject';
import { payloadHash, type StartRequest } from '../../executions/domain/start-request';
import { executionToken, hashToken } from '../../executions/domain/token';
import { checkStart } from '../../executions/domain/workflow-check';
import { lockQuota } from '../../executions/store/quotas.sql';
import type { Ports } from '../../ports';
import type { DB } from '../../store/tables.gen';
import { type GroupRequest, memberRequest } from '../domain/group-members';
import {
  associateExecutions,
  insertGroup,
  insertMembers,
  insertRecordedEvents,
  type MemberDefaults,
  type NewMember,
} from '../store/execution-groups.sql';
import { startGroupMembers } from './start-group-members';

type CreateExecutionGroupDeps = Pick<Ports, 'db' | 'deployments' | 'queue' | 'tokenKey' | 'wake'> &
  StartSubjectDeps;

/** The most members that one statement inserts. */
const CHUNK = 500;

/** Rows of members to store, and messages that appear only in the group's log. */
interface Members {
  rows: NewMember[];
  logs: string[];
}

const NONE: Members = { rows: [], logs: [] };

/**
 * POST /execution-groups: creates one execution for each deployment of the group, all of them queued, and starts the first ones
 * in the same transaction. A deployment without the workflow is only noted in the group's log; a deployment where the workflow is
 * not available now gets a failed execution. A crash before the commit leaves nothing; after the commit,
 * engine/loops/engine.loops.ts dequeues. With `associated` (a restore), the group gets these executions instead, and nothing
 * starts.
 * @throws AppError not_found_error, conflict_error (id taken), too_many_requests_error (quota),
 * illegal_execution_parameters_error naming the deployment.
 */
export async function createExecutionGroup<T>(
  deps: CreateExecutionGroupDeps,
  request: GroupRequest,
  read: (tx: Tx<DB>) => Promise<T>,
): Promise<T> {
  const { visibility, facts } = await membersOf(deps, request);
  const unknown = Object.keys(request.parameters).find((id) => !facts.some((one) => one.id === id));
  if (unknown !== undefined) {
    throw new AppError('bad_parameters_error', `parameters: deployment \`${unknown}\` is not in the group`, {
      field: `parameters.${unknown}`,
      expected: `deployments of the group \`${request.deploymentGroupId}\``,
    });
  }
  const members = request.associated ? NONE : await checkMembers(deps, request, facts);
  const { started, answer } = await deps.db.tx(async (tx) => {
    await storeGroup(tx, request, visibility, members);
    if (request.associated) await associate(tx, request, request.associated);
    const ids = await startGroupMembers(tx, deps, request.tenant, request.groupId);
    await requireRoomForMembers(tx, deps, request.tenant);
    return { started: ids, answer: await read(tx) };
  });
  for (const id of started) deps.wake.drive(id);
  return answer;
}

/** Accepts all members or none: the waiting members may not exceed the tenant's quota. */
async function requireRoomForMembers(
  tx: Tx<DB>,
  { queue }: CreateExecutionGroupDeps,
  tenant: string,
): Promise<void> {
  const quota = queue.quota(tenant);
  if (quota.queued === null) return;
  await lockQuota(tx, tenant, quota);
  await requireQueueRoom(tx, tenant, quota, 0);
}

async function membersOf(
  deps: CreateExecutionGroupDeps,
  request: GroupRequest,
): Promise<{ visibility: string; facts: DeploymentFacts[] }> {
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  const found: DeploymentFacts[] = [];
  let after = 0;
  for (;;) {
    const page = await deps.deployments.groupMembers(
      request.tenant,
      request.deploymentGroupId,
      caller,
      after,
    );
    found.push(...page.members);
    if (page.next === 0) return { visibility: request.visibility ?? page.visibility, facts: found };
    after = page.next;
  }
}

export async function checkMembers(
  deps: CreateExecutionGroupDeps,
  request: GroupRequest,
  facts: readonly DeploymentFacts[],
): Promise<Members> {
  const found: Members = { rows: [], logs: [] };
  for (const one of facts) {
    const start = memberRequest(request, one);
    const id = newId();
    const row = {
      id,
      request_id: start.requestId ?? id,
      payload_hash: payloadHash(start),
      deployment_id: one.id,
      deployment_display_name: one.displayName,
      deployment_made_by: one.madeBy,
      blueprint_id: one.blueprintId,
      visibility: one.visibility,
    };
    const token_hash = hashToken(executionToken(deps.tokenKey, row.id));
    try {
      found.rows.push({ ...row, token_hash, ...(await checkMember(deps, start, one)) });
    } catch (error) {
      if (isAppError(error, 'nonexistent_workflow_error')) found.logs.push(error.message);
      else if (isAppError(error)) throw aboutMember(error, one.id);
      else throw error;
    }
  }
  return found;
}

/** Checks a member. A member that cannot run now gets an outcome; its program is stored nevertheless, because it may be resumed. */
async function checkMember(deps: CreateExecutionGroupDeps, start: StartRequest, facts: DeploymentFacts) {
  const check = (isForced: boolean) =>
    checkStart(
      { ...start, isForced },
      facts,
      (payload) => deps.deployments.evaluate(start.tenant, facts.id, start.createdBy, payload),
      nameSources(deps, start, facts.id),
    );
  try {
    return { ...(await check(start.isForced)), outcome: null };
  } catch (error) {
    if (!isAppError(error, 'unavailable_workflow_error') && !isAppError(error, 'dependent_exists_error'))
      throw error;
    return { ...(await check(true)), outcome: { status: 'failed' as const, error: error.message } };
  }
}

function aboutMember(error: AppError, deploymentId: string): AppError {
  const details = { ...error.details, deployment_id: deploymentId };
  return new AppError(error.code, `Deployment \`${deploymentId}\`: ${error.message}`, details, {
    cause: error,
  });
}

async function associate(tx: Tx<DB>, request: GroupRequest, ids: readonly string[]): Promise<void> {
  const taken = new Set(await associateExecutions(tx, request, ids.filter(isUuid)));
  const refused = ids.find((id) => !taken.has(id));
  if (refused === undefined) return;
  const message = `associated_executions: \`${refused}\` is no execution that has ended and belongs to no other group`;
  throw badParameter('associated_executions', message, {
    expected: 'ids of ended executions without a group',
  });
}

async function storeGroup(
  tx: Tx<DB>,
  request: GroupRequest,
  visibility: string,
  members: Members,
): Promise<void> {
  const of: MemberDefaults = {
    tenant: request.tenant,
    groupId: request.groupId,
    workflowId: request.workflowId,
    createdBy: request.createdBy,
    isForced: request.isForced,
    isSystemWorkflow: false,
  };
  const group = {
    tenant: request.tenant,
    id: request.groupId,
    deployment_group_id: request.deploymentGroupId,
    workflow_id: request.workflowId,
    concurrency: request.concurrency,
    visibility,
    created_by: request.createdBy,
    created_at: request.createdAt,
    has_queued: members.rows.some((row) => row.outcome === null),
  };
  if (!(await insertGroup(tx, group))) {
    throw new AppError('conflict_error', `Execution group \`${group.id}\` already exists`, { field: 'id' });
  }
  await storeMembers(tx, of, members.rows);
  await appendGroupEvents(tx, group, members.logs.map(groupLog));
}

/** Stores members, and the events of those that are only recorded, in statements of a bounded size. */
export async function storeMembers(
  tx: Tx<DB>,
  of: MemberDefaults,
  rows: readonly NewMember[],
): Promise<void> {
  for (let i = 0; i < rows.length; i += CHUNK) {
    const chunk = rows.slice(i, i + CHUNK);
    const stored = await insertMembers(tx, of, chunk);
    if (chunk.some((row) => row.outcome !== null)) await insertRecordedEvents(tx, of, stored);
  }
}
