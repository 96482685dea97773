import { AppError, isAppError } from '@baton/kernel';
import type { CallRequest } from '@baton/task-graph';
import { groupLog } from '../../events/domain/graph-events';
import { appendGroupEvents } from '../../events/store/events.sql';
import { type RequestExecutionDeps, requestExecution } from '../../executions/commands/request-execution';
import { leavingWith } from '../../executions/commands/start-subject';
import { startRequest } from '../../executions/domain/start-request';
import { lockExecution, readExecution, twinOf } from '../../executions/store/executions.sql';
import { checkMembers, storeMembers } from '../../groups/commands/create-execution-group';
import { type ResumeGroupMembersDeps, resumeGroup } from '../../groups/commands/resume-group-members';
import { startGroupMembers } from '../../groups/commands/start-group-members';
import type { GroupRequest } from '../../groups/domain/group-members';
import { insertGroup, readGroup } from '../../groups/store/execution-groups.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow, StoredStage } from '../../store/rows';
import { nestedGroupId, nestedRequestId } from '../domain/nested';
import { type AwaitNestedDeps, awaitNested, cancelNested } from './await-nested';
import { resumeExecution } from './resume-execution';

export type StartNestedDeps = Pick<Ports, 'db' | 'deployments' | 'queue' | 'wake'> &
  AwaitNestedDeps &
  RequestExecutionDeps &
  ResumeGroupMembersDeps;

type CallStage = Extract<StoredStage, { kind: 'call' }>;
type RunExecution = Extract<CallRequest, { call: 'run-execution' }>;
type RunOnServices = Extract<CallRequest, { call: 'run-on-services' }>;

/** Concurrency of the services below a deployment: the default of every group (reference/rest-api.md 5.8). */
const CONCURRENCY = 5;
/** Number of services whose facts are read at a time. */
const AT_ONCE = 8;

/**
 * Carries out a stage that starts other executions and waits for them (CallRequest `run-execution`, `run-on-services`;
 * reference/workflows.md 1.7, 1.13). The started executions are named after execution and stage, and start only while the stage is
 * in work: so a repetition finds them, and a cancel leaves none behind. Then the execution is `awaiting`: nobody polls, and it
 * takes no place of `max_concurrent_workflows`. After a crash before that, the phase is `calling`, which
 * engine/loops/engine.loops.ts drives again; for a crash in phase `awaiting`, see engine/commands/await-nested.ts. On a resume, the
 * failed and cancelled ones of them are resumed. Returns false when the row has moved on.
 * @throws AppError for a failure that may succeed later; other refusals become the stage's error.
 */
export async function startNested(deps: StartNestedDeps, execution: ExecutionRow): Promise<boolean> {
  const stage = execution.stage as CallStage;
  let error: { type: string; message: string } | null = null;
  try {
    if (stage.request.call === 'run-execution') await startOne(deps, execution, stage, stage.request);
    else if (stage.request.call === 'run-on-services')
      await startOnServices(deps, execution, stage, stage.request);
  } catch (err) {
    if (!isAppError(err) || err.entry.retryable) throw err;
    error = { type: err.code, message: err.message };
  }
  const isKept = await awaitNested(deps, execution, stage, error);
  // A cancel came in between: resumed executions must not go on when nothing waits for them.
  if (!isKept && (await hasLeft(deps, execution.id))) await cancelNested(deps, execution.id);
  return isKept;
}

async function hasLeft(deps: StartNestedDeps, executionId: string): Promise<boolean> {
  const phase = (await readExecution(deps.db.query, executionId))?.phase;
  return phase === 'ending' || phase === 'ended';
}

async function startOne(
  deps: StartNestedDeps,
  execution: ExecutionRow,
  stage: CallStage,
  request: RunExecution,
): Promise<void> {
  const requestId = nestedRequestId(execution.id, stage.name);
  const earlier = await twinOf(deps.db.query, { tenant: execution.tenant, requestId });
  if (earlier) return await resumeOne(deps, execution, earlier);
  const start = startRequest({
    tenant: execution.tenant,
    createdBy: execution.created_by,
    isAdministrator: true,
    requestId,
    workflowId: request.workflowId,
    deploymentId: request.deploymentId,
    parameters: request.parameters,
    allowCustomParameters: request.allowCustomParameters,
    isForced: request.force,
    mayQueue: true,
    waitAfterFailS: execution.wait_after_fail_s,
    isSystemWorkflow: request.isSystem ?? false,
    // The name of the workflow comes from a user, who may not start every workflow.
    isOfClient: !request.isSystem,
    parentId: execution.id,
  });
  await requestExecution(deps, start);
}

/** Resumes a child that was started before, only if the execution itself was resumed and the child has failed or was cancelled. */
async function resumeOne(deps: StartNestedDeps, execution: ExecutionRow, child: ExecutionRow): Promise<void> {
  if (!execution.is_resumed || child.phase !== 'ended' || child.status === 'terminated') return;
  await resumeExecution(deps, child.id, false);
}

async function startOnServices(
  deps: StartNestedDeps,
  execution: ExecutionRow,
  stage: CallStage,
  request: RunOnServices,
): Promise<void> {
  const { tenant } = execution;
  const groupId = nestedGroupId(request.groupId, execution.id);
  const group = await readGroup(deps.db.query, tenant, groupId);
  if (group) {
    if (execution.is_resumed) await resumeGroup(deps, group, 'resume');
    return;
  }
  const ids = await servicesBelow(deps, execution, stage, request);
  if (ids.length === 0) return;
  const start: GroupRequest = {
    tenant,
    createdBy: execution.created_by,
    isAdministrator: true,
    groupId,
    deploymentGroupId: '',
    workflowId: request.workflowId,
    defaultParameters: request.parameters,
    parameters: {},
    isForced: execution.is_forced,
    concurrency: CONCURRENCY,
    visibility: null,
    createdAt: null,
    parentId: execution.id,
  };
  const members = await checkMembers(deps, start, await factsOf(deps, execution, ids));
  const { workflowId, createdBy, isForced } = start;
  const of = { tenant, groupId, workflowId, createdBy, isForced, isSystemWorkflow: false };
  const started = await deps.db.tx(async (tx) => {
    const row = {
      ...{
        tenant,
        id: groupId,
        deployment_group_id: null,
        workflow_id: workflowId,
        concurrency: CONCURRENCY,
      },
      ...{ visibility: 'tenant', created_by: createdBy, created_at: null, parent_id: execution.id },
      has_queued: members.rows.some(({ outcome }) => outcome === null),
    };
    // A parallel call of the same stage was first: it has started the members.
    if (!(await insertGroup(tx, row))) return [];
    await storeMembers(tx, { ...of, parentId: execution.id }, members.rows);
    await appendGroupEvents(tx, row, members.logs.map(groupLog));
    const begun = await startGroupMembers(tx, deps, tenant, groupId);
    // Locked after the guards, as everywhere. From now on a cancel finds the members, or none is started.
    const parent = await lockExecution(tx, execution.id);
    if (parent?.phase !== 'calling' || parent.stage?.name !== stage.name)
      throw new AppError(
        'conflict_error',
        `Execution ${execution.id} does not wait for its services any more`,
      );
    return begun;
  });
  for (const id of started) deps.wake.drive(id);
}

/** Returns the ids of the services at the time of the first call: deployments stores its answer under the stage's name. */
async function servicesBelow(
  deps: StartNestedDeps,
  execution: ExecutionRow,
  stage: CallStage,
  request: RunOnServices,
): Promise<string[]> {
  const { tenant, id, created_by } = execution;
  const of = { tenant, deploymentId: request.deploymentId, executionId: id, username: created_by };
  return (await deps.deployments.call(of, stage.name, { call: 'list-services' })) as string[];
}

async function factsOf(deps: StartNestedDeps, execution: ExecutionRow, ids: readonly string[]) {
  const caller = { username: execution.created_by, isAdministrator: true };
  const leaving = await leavingWith(deps, { deploymentId: null, parameters: {}, parentId: execution.id });
  const facts = [];
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    const some = ids
      .slice(i, i + AT_ONCE)
      .map((id) => deps.deployments.facts(execution.tenant, id, caller, leaving));
    facts.push(...(await Promise.all(some)));
  }
  return facts;
}
