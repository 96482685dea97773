import { hasPermission, isAdministrator } from '@baton/contracts';
import { executionAction, executionRoutes, executionStatus } from '@baton/contracts/http/executions';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope, pickFields } from '@baton/http';
import { AppError, badParameter, nearestName, newId } from '@baton/kernel';
import { cancelExecution } from '../commands/cancel-execution';
import { deleteExecutions } from '../commands/delete-executions';
import { requestExecution } from '../commands/request-execution';
import { resumeExecution } from '../commands/resume-execution';
import { setStatus } from '../commands/set-status';
import { legacyExecutionFields, naiveTime, presentExecution } from '../domain/present-execution';
import { parseScheduleTime } from '../domain/schedule-time';
import type { StartRequest } from '../domain/start-request';
import type { EngineDeps } from '../engine/deps';
import { explainExecution } from '../queries/explain-execution';
import { listExecutions } from '../queries/list-executions';
import { visibleExecution } from '../queries/visible-execution';
import { readExecution } from '../store/executions.sql';

const DEFAULT_WAIT_AFTER_FAIL_S = 600;

/** Routes of executions (spec v3.1 part 2 "Executions", v2.1). */
export function executionsRoutes(deps: EngineDeps & { nowMs(): number }): BoundRoute[] {
  const shown = async (call: HttpCall, id: string) =>
    presentExecution((await readExecution(deps.db.query, id))!, call.version);
  return bindRoutes(executionRoutes, {
    async listExecutions(call) {
      const page = await listExecutions(deps.db.query, call.principal, call.list);
      const items = call.version === 'v2.1' ? page.items.map(legacyItem) : page.items;
      return listEnvelope({ ...page, items }, call.list);
    },
    async getExecution(call) {
      return presentExecution(
        await visibleExecution(deps.db.query, call.principal, call.params.executionId!),
        call.version,
      );
    },
    async startExecution(call) {
      const row = await requestExecution(deps, startRequestOf(call, deps.nowMs()));
      return presentExecution(row, call.version);
    },
    async actOnExecution(call) {
      const { id } = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      await act(deps, id, call.body.action);
      return await shown(call, id);
    },
    async patchExecution(call) {
      const { id } = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      await setStatus(
        deps,
        id,
        oneOf('status', executionStatus.options, call.body.status),
        call.body.error ?? '',
      );
      return await shown(call, id);
    },
    async deleteExecutions(call) {
      const deleted = await deleteExecutions(
        deps.db,
        call.principal,
        call.list,
        call.body ?? {},
        deps.nowMs(),
      );
      const items =
        call.wire === 'cloudify'
          ? [{ count: deleted.length }]
          : deleted.map((row) => presentExecution(row, call.version));
      const page = { items, total: deleted.length, filtered: null };
      return listEnvelope(page, { ...call.list, include: null });
    },
    async explainExecution(call) {
      const execution = await visibleExecution(deps.db.query, call.principal, call.params.executionId!);
      return {
        id: execution.id,
        status: execution.status,
        waiting_for: await explainExecution(deps.db.query, execution),
      };
    },
  });
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

async function act(deps: EngineDeps, id: string, text: string): Promise<void> {
  const action = oneOf('action', executionAction.options, text);
  if (action === 'resume' || action === 'force-resume')
    await resumeExecution(deps, id, action === 'force-resume');
  // The original takes requeue for a plain cancel.
  else await cancelExecution(deps, id, action === 'requeue' ? 'cancel' : action);
}

function legacyItem(item: object): object {
  const row = item as Record<string, unknown>;
  const shown = pickFields(
    row,
    legacyExecutionFields.filter((field) => field in row),
  ) as Record<string, unknown>;
  return 'created_at' in shown ? { ...shown, created_at: naiveTime(shown.created_at as string) } : shown;
}

function startRequestOf(call: HttpCall, nowMs: number): StartRequest {
  const { body, principal } = call;
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
  const field = body.schedule !== undefined ? 'schedule' : 'scheduled_time';
  const schedule = body.schedule ?? body.scheduled_time;
  return {
    tenant: principal.tenant,
    createdBy: principal.username,
    isAdministrator: isAdministrator(principal),
    requestId: call.idempotencyKey ?? newId(),
    workflowId: body.workflow_id,
    deploymentId: body.deployment_id || null,
    parameters: body.parameters ?? {},
    allowCustomParameters: body.allow_custom_parameters ?? false,
    isForced: body.force ?? false,
    mayQueue: body.queue ?? false,
    isDryRun: body.dry_run ?? false,
    waitAfterFailS: body.wait_after_fail ?? DEFAULT_WAIT_AFTER_FAIL_S,
    scheduledForMs: schedule === undefined ? null : parseScheduleTime(field, schedule, nowMs),
    isSystemWorkflow: body.is_system_workflow ?? false,
  };
}
