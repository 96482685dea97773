import { hasPermission, isAdministrator, ownershipOf } from '@baton/contracts';
import { executionAction, executionRoutes, executionStatus } from '@baton/contracts/http/executions';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { AppError, badParameter, isAppError, nearestName } from '@baton/kernel';
import { type ActOnExecutionsDeps, actOnExecutions } from '../../engine/commands/act-on-executions';
import { cancelExecution } from '../../engine/commands/cancel-execution';
import { resumeExecution } from '../../engine/commands/resume-execution';
import { setStatus } from '../../engine/commands/set-status';
import type { Ports } from '../../ports';
import { scheduleOnce } from '../../schedules/commands/put-schedule';
import { parseScheduleTime } from '../../schedules/domain/schedule-time';
import type { SchedulesWire } from '../../schedules/http/wire-policy';
import type { ExecutionRow } from '../../store/rows';
import { deleteExecutions } from '../commands/delete-executions';
import { recordRefused } from '../commands/record-refused';
import { type RequestExecutionDeps, requestExecution } from '../commands/request-execution';
import { restoreExecution } from '../commands/restore-execution';
import { pastExecutionOf } from '../domain/past-execution';
import { presentExecution, presentScheduled } from '../domain/present-execution';
import { type StartRequest, WAIT_AFTER_FAIL_S } from '../domain/start-request';
import { requireWorkflowPermission } from '../domain/workflow-permission';
import { awaitedExecution } from '../queries/awaited-execution';
import { explainExecution } from '../queries/explain-execution';
import { knownExecution } from '../queries/known-execution';
import { listExecutions, summarizeExecutions } from '../queries/list-executions';
import { visibleExecution } from '../queries/visible-execution';
import type { ExecutionsWire } from './wire-policy';

type ExecutionsRoutesDeps = Pick<
  Ports,
  'catalog' | 'db' | 'deployments' | 'findUser' | 'log' | 'queue' | 'tokenKey'
> &
  ActOnExecutionsDeps &
  RequestExecutionDeps;

/** Routes of executions (spec v3.1 part 2 "Executions", v2.1). */
export function executionsRoutes(
  deps: ExecutionsRoutesDeps & { nowMs(): number },
  wires: { executions: ExecutionsWire; schedules: SchedulesWire },
): BoundRoute[] {
  const wire = wires.executions;
  const present = (call: HttpCall, row: ExecutionRow) => wire.present(call.version, presentExecution(row));
  const presentOne = (call: HttpCall, row: ExecutionRow) => ({
    ...present(call, row),
    ...cancelTimes(wire, call, row),
  });
  const shown = async (call: HttpCall, id: string) =>
    present(call, (await knownExecution(deps.db.query, id))!);
  return bindRoutes(executionRoutes, {
    async listExecutions(call) {
      const page = await listExecutions(deps.db.query, call.principal, call.list);
      const items = page.items.map((item) => wire.present(call.version, item as Record<string, unknown>));
      return listEnvelope({ ...page, items }, call.list);
    },
    async getExecution(call) {
      const id = call.params.executionId!;
      if (wire.showsUploads)
        return wire.present(call.version, await awaitedExecution(deps, call.principal, id));
      return presentOne(call, await visibleExecution(deps.db.query, call.principal, id));
    },
    startExecution: async (call) => wire.present(call.version, await startOrSchedule(deps, wires, call)),
    async actOnExecution(call) {
      const { id } = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      const isResumed = await act(deps, id, call.body.action, wire);
      const row = (await knownExecution(deps.db.query, id))!;
      // A resumed execution may have begun by now; the answer shows the status that the action gave it.
      return presentOne(call, isResumed ? { ...row, status: 'pending' } : row);
    },
    async patchExecution(call) {
      const row = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      if (row.phase === 'ended') refuseUnknownStatus(row, call.body.status);
      const status = oneOf('status', executionStatus.options, call.body.status);
      await setStatus(deps, row.id, status, call.body.error ?? '');
      return await shown(call, row.id);
    },
    deleteExecutions: (call) => deleteListed(deps, call, present, wire),
    async actOnExecutions({ principal, list, body }) {
      const done = await actOnExecutions(deps, principal, list, body.action);
      return listEnvelope({ ...done, filtered: null }, { ...list, include: null });
    },
    async summarizeExecutions({ principal, list, query }) {
      const page = await summarizeExecutions(deps.db.query, principal, list, query);
      return listEnvelope(page, list, { hasFiltered: false });
    },
    async explainExecution(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      return {
        id: execution.id,
        status: execution.status,
        waiting_for: await explainExecution(deps.db.query, execution, deps.queue, deps.agents),
      };
    },
  });
}

/**
 * Returns the time of the cancel request, and the time until which running operations may end by themselves. Clients of the
 * original ignore fields that they do not know.
 */
function cancelTimes(wire: ExecutionsWire, { version }: HttpCall, row: ExecutionRow) {
  const { status, cancel_requested_at, cancel_deadline } = row;
  const isShown = wire.showsCancelRequests && version !== 'v2.1';
  return {
    ...(isShown && cancel_requested_at !== null ? { cancel_requested_at } : {}),
    ...(status === 'cancelling' && cancel_deadline !== null ? { cancel_deadline } : {}),
  };
}

/** Handles a start, or the import of a past execution; returns the resulting execution in the form of v3.1. */
async function startOrSchedule(
  deps: ExecutionsRoutesDeps & { nowMs(): number },
  { executions: wire, schedules }: { executions: ExecutionsWire; schedules: SchedulesWire },
  call: HttpCall,
): Promise<Record<string, unknown>> {
  const request = startRequestOf(call, deps.nowMs(), wire);
  const past = pastExecutionOf(call.principal, call.body);
  if (past) {
    const owner = await ownershipOf(call.principal, call.body, deps.findUser);
    return presentExecution(await restoreExecution(deps, request, past, owner));
  }
  if (request.scheduledForMs === null || !wire.makesSchedules)
    return presentExecution(await start(deps, request, wire));
  await scheduleOnce({ ...deps, wire: schedules }, call.principal, request);
  return presentScheduled();
}

async function start(
  deps: ExecutionsRoutesDeps,
  request: StartRequest,
  wire: ExecutionsWire,
): Promise<ExecutionRow> {
  try {
    return await requestExecution(deps, request);
  } catch (error) {
    if (wire.keepsRefusedStarts && isAppError(error, 'unavailable_workflow_error'))
      await recordRefused(deps, request);
    throw error;
  }
}

async function deleteListed(
  deps: ExecutionsRoutesDeps & { nowMs(): number },
  call: HttpCall<Parameters<typeof deleteExecutions>[3] | undefined>,
  present: (call: HttpCall, row: ExecutionRow) => Record<string, unknown>,
  wire: ExecutionsWire,
) {
  requireType(call, wire.deleteType);
  const deleted = await deleteExecutions(deps.db, call.principal, call.list, call.body ?? {}, deps.nowMs());
  const items = wire.deletedItems(deleted, (row) => present(call, row));
  return listEnvelope({ items, total: deleted.length, filtered: null }, { ...call.list, include: null });
}

/** @throws AppError bad_parameters_error naming the nearest of `options`. */
function oneOf<T extends string>(field: string, options: readonly T[], value: string): T {
  const known = options.find((option) => option === value);
  if (known !== undefined) return known;
  throw badParameter(field, `Invalid ${field}: ${value}`, {
    expected: options,
    nearest: nearestName(value, options),
  });
}

/** Checks the content type of a delete whose conditions are in the body, also of an empty one: no body at all is an accident. */
function requireType({ contentType }: HttpCall, type: RegExp | null): void {
  if (type === null || type.test(contentType)) return;
  throw new AppError('unsupported_content_type_error', 'Content type must be application/json', {
    expected: 'application/json',
  });
}

/** Refuses an unknown status for an ended execution: no value changes its status (reference/rest-api.md 6.1). */
function refuseUnknownStatus(row: ExecutionRow, status: string): void {
  if (executionStatus.options.some((option) => option === status)) return;
  throw new AppError(
    'invalid_exception_status_update',
    `Execution ${row.id} has ended in status ${row.status}; it cannot become ${status}`,
    { field: 'status', from: row.status, to: status },
  );
}

/** Carries out the action; returns whether it was a resume. */
async function act(
  deps: ExecutionsRoutesDeps,
  id: string,
  text: string,
  wire: ExecutionsWire,
): Promise<boolean> {
  const action = oneOf('action', executionAction.options, text);
  const isResume = action === 'resume' || action === 'force-resume';
  if (isResume)
    await resumeExecution(deps, id, action === 'force-resume', { mayRunBeside: wire.resumesBesideOthers });
  // The original treats requeue as a plain cancel.
  else await cancelExecution(deps, id, action === 'requeue' ? 'cancel' : action);
  return isResume;
}

function startRequestOf(call: HttpCall, nowMs: number, wire: ExecutionsWire): StartRequest {
  const { body, principal } = call;
  if (body.deployment_id === undefined)
    throw badParameter('deployment_id', 'deployment_id is missing', {
      expected: 'the id of a deployment; an empty text for a system workflow',
    });
  const restricted = ['id', 'error', 'force_status', 'is_system_workflow'].filter(
    (key) => body[key] !== undefined && body[key] !== null,
  );
  if ((restricted.length > 0 || !body.deployment_id) && !hasPermission(principal, 'set_execution_details')) {
    throw new AppError(
      'forbidden_error',
      `${principal.username} may not set ${restricted.join(', ') || 'an execution without deployment_id'}`,
      {
        field: restricted[0] ?? 'deployment_id',
      },
    );
  }
  requireWorkflowPermission(principal, body.workflow_id);
  const field = body.schedule !== undefined ? 'schedule' : 'scheduled_time';
  const schedule = body.schedule ?? body.scheduled_time;
  return {
    tenant: principal.tenant,
    createdBy: principal.username,
    isAdministrator: isAdministrator(principal),
    requestId: call.idempotencyKey ?? null,
    workflowId: body.workflow_id,
    deploymentId: body.deployment_id || null,
    parameters: body.parameters ?? {},
    allowCustomParameters: body.allow_custom_parameters ?? false,
    isForced: body.force ?? false,
    mayQueue: body.queue ?? false,
    isDryRun: body.dry_run ?? false,
    waitAfterFailS: waitAfterFail(body.wait_after_fail, wire),
    scheduledForMs: schedule === undefined ? null : parseScheduleTime(field, schedule, nowMs),
    isSystemWorkflow: body.is_system_workflow ?? false,
    isOfClient: true,
  };
}

/** Returns seconds. */
function waitAfterFail(given: unknown, wire: ExecutionsWire): number {
  return typeof given === 'number' ? given : wire.waitAfterFail(given, WAIT_AFTER_FAIL_S);
}
