import { isAdministrator, ownershipOf, type Principal } from '@baton/contracts';
import type { createScheduleBody, updateScheduleBody } from '@baton/contracts/http/execution-schedules';
import { AppError, isoInstant, newId, notFound, readInstant } from '@baton/kernel';
import type { z } from 'zod';
import type { StartRequest } from '../../executions/domain/start-request';
import { refuseStartedElsewhere } from '../../executions/domain/system-workflows';
import { declaredWorkflow, requireWorkflow } from '../../executions/domain/workflow-check';
import { requireWorkflowPermission } from '../../executions/domain/workflow-permission';
import type { Ports } from '../../ports';
import { readNowMs } from '../../store/clock.sql';
import { nextOccurrence, type ScheduleRow } from '../domain/schedule';
import { argumentsOf, ruleOf, type ScheduleReading, sinceOf } from '../domain/schedule-input';
import { deleteEarlierSchedule, insertSchedule, rewriteSchedule } from '../store/schedules.sql';
import { lockDecided } from './fire-schedules';

export type ScheduleDeps = Pick<Ports, 'db' | 'deployments' | 'findUser' | 'log'> & {
  wire: ScheduleReading;
};

/**
 * Creates a schedule of a deployment that the caller may see.
 * @throws AppError not_found_error, nonexistent_workflow_error, bad_parameters_error, conflict_error when the id is taken.
 */
export async function createSchedule(
  deps: ScheduleDeps,
  principal: Principal,
  place: { deploymentId: string; id: string },
  body: z.output<typeof createScheduleBody>,
): Promise<void> {
  const timing = {
    since: sinceOf(body, deps.wire),
    until: typeof body.until === 'string' ? readInstant('until', body.until) : null,
    rule: ruleOf(body, deps.wire),
  };
  const owner = await ownershipOf(principal, body, deps.findUser);
  const nowMs = await readNowMs(deps.db.query);
  const created_at = owner.createdAt ?? new Date(nowMs).toISOString();
  const next_occurrence = nextOccurrence({ ...timing, created_at }, nowMs);
  const facts = await deps.deployments.facts(principal.tenant, place.deploymentId, {
    username: principal.username,
    isAdministrator: isAdministrator(principal),
  });
  requireWorkflow(body.workflow_id, facts);
  if (!declaredWorkflow(facts, body.workflow_id)) refuseStartedElsewhere(body.workflow_id);
  requireWorkflowPermission(principal, body.workflow_id);
  const row: ScheduleRow = {
    ...timing,
    key: newId(),
    tenant: principal.tenant,
    deployment_id: facts.id,
    deployment_made_by: facts.madeBy,
    id: place.id,
    workflow_id: body.workflow_id,
    parameters: (body.parameters as ScheduleRow['parameters'] | undefined) ?? null,
    execution_arguments: argumentsOf(body.execution_arguments),
    slip_minutes: body.slip ?? 0,
    stop_on_fail: body.stop_on_fail ?? false,
    enabled: body.enabled ?? true,
    next_occurrence,
    latest_execution_id: null,
    visibility: facts.visibility,
    created_by: owner.createdBy,
    created_at,
  };
  const isNew = await deps.db.tx(async (tx) => {
    await deleteEarlierSchedule(tx, row, isoInstant(nowMs));
    return await insertSchedule(tx, row);
  });
  if (!isNew)
    throw new AppError('conflict_error', `Deployment ${facts.id} has a schedule ${place.id} already`, {
      field: 'schedule_id',
    });
}

/**
 * Changes the times of a schedule and computes its next occurrence anew. A null counts as not given, because the original's
 * clients send every key.
 * @throws AppError not_found_error when it was deleted meanwhile, bad_parameters_error.
 */
export async function updateSchedule(
  deps: ScheduleDeps,
  key: string,
  id: string,
  body: z.output<typeof updateScheduleBody>,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const stored = await lockDecided(deps, tx, key);
    if (!stored) throw notFound('ExecutionSchedule', id);
    const timeOf = (field: 'since' | 'until') => {
      const given = body[field];
      return typeof given === 'string' ? readInstant(field, given) : stored[field];
    };
    const row: ScheduleRow = {
      ...stored,
      since: timeOf('since'),
      until: timeOf('until'),
      rule: ruleOf(body, deps.wire, stored.rule),
      slip_minutes: body.slip ?? stored.slip_minutes,
      stop_on_fail: body.stop_on_fail ?? stored.stop_on_fail,
      enabled: body.enabled ?? stored.enabled,
      workflow_id: body.workflow_id ?? stored.workflow_id,
    };
    await rewriteSchedule(tx, { ...row, next_occurrence: nextOccurrence(row, stored.now_ms) });
  });
}

/**
 * Stores a start at a later time as the original does: as a schedule `<workflow>_<hex>` that runs once (reference 5.7).
 * @throws AppError not_found_error, nonexistent_workflow_error.
 */
export async function scheduleOnce(
  deps: ScheduleDeps,
  principal: Principal,
  request: StartRequest,
): Promise<void> {
  const deploymentId = request.deploymentId ?? '';
  await createSchedule(
    deps,
    principal,
    { deploymentId, id: `${request.workflowId}_${newId().replaceAll('-', '')}` },
    {
      workflow_id: request.workflowId,
      parameters: request.parameters,
      execution_arguments: {
        allow_custom_parameters: request.allowCustomParameters,
        force: request.isForced,
        is_dry_run: request.isDryRun,
        wait_after_fail: request.waitAfterFailS,
      },
      since: new Date(request.scheduledForMs!).toISOString(),
      count: 1,
    },
  );
}
