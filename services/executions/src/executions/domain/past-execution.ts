import { hasPermission, type Principal } from '@baton/contracts';
import type { startExecutionBody } from '@baton/contracts/http/executions';
import { AppError, badParameter, isUuid, readInstant } from '@baton/kernel';
import type { z } from 'zod';

type Body = Pick<
  z.output<typeof startExecutionBody>,
  'id' | 'error' | 'force_status' | 'created_at' | 'started_at' | 'ended_at' | 'created_by'
>;

/** An execution that has ended elsewhere, as a client describes it (reference/rest-api.md 5.7). */
export interface PastExecution {
  /** Null: a new id is made. */
  id: string | null;
  outcome: { status: 'terminated' | 'failed' | 'cancelled'; error: string };
  /** ISO texts. `startedAt` null: it never started; `endedAt` null: now. */
  startedAt: string | null;
  endedAt: string | null;
}

const ENDED = ['terminated', 'failed', 'cancelled'] as const;
const ONLY_PAST = ['id', 'error', 'created_at', 'started_at', 'ended_at', 'created_by'] as const;

/**
 * Returns the past execution that `force_status` and its related fields describe, without the time and user of its creation; null:
 * the workflow is to run.
 * @throws AppError bad_parameters_error; forbidden_error without set_timestamp.
 */
export function pastExecutionOf(principal: Principal, body: Body): PastExecution | null {
  if (typeof body.force_status !== 'string') {
    const field = ONLY_PAST.find((name) => typeof body[name] === 'string');
    if (field === undefined) return null;
    throw badParameter(field, `${field} is taken only with force_status, of an execution that has ended`, {
      expected: 'force_status',
    });
  }
  const status = ENDED.find((word) => word === body.force_status);
  if (!status)
    throw badParameter('force_status', `force_status: ${body.force_status} is no end of an execution`, {
      expected: ENDED,
    });
  if (typeof body.id === 'string' && !isUuid(body.id))
    throw badParameter('id', `id: ${body.id} is no UUID`, { expected: 'UUID' });
  const time = (field: 'started_at' | 'ended_at'): string | null => {
    const text = body[field];
    if (typeof text !== 'string') return null;
    requireTimestampRight(principal, field);
    return readInstant(field, text);
  };
  return {
    id: body.id ?? null,
    outcome: { status, error: body.error ?? '' },
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
  };
}

function requireTimestampRight(principal: Principal, field: string): void {
  if (hasPermission(principal, 'set_timestamp')) return;
  throw new AppError('forbidden_error', `${principal.username} may not set ${field}`, { field });
}
