import { isUuid } from '@baton/kernel';
import { outcomes } from '../simulate';
import type { Conditions } from './conditions';
import type { MemoryDatabase } from './database';
import { executionIdOf } from './executions';
import type { Fleet } from './worker';

const LONG_FROM_MS = 400;
const LONG = 30;
/** The longest operations outlast retries, deadlines and cancels of their execution. */
const ENDLESS_FROM_MS = 600;
const ENDLESS = 150;
/** A waiting operation checks less often, by this factor, in worlds with rare retries. */
const PATIENCE = 8;
const USUAL_RETRY_MS = 40;
const LOOK_MS = 6_000;

/**
 * Returns the outcomes of runs in a world. Half of the waiting operations wait for the end of an execution, possibly their own.
 * In worlds with a queue, the first execution more often waits for the last one, because then only its end wakes the operation.
 */
export function runOutcomes(
  seed: number,
  { maxConcurrent, retryMs, hasEndless, hasLongLooks }: Conditions,
  { executions }: Pick<MemoryDatabase, 'executions'>,
): Fleet['outcomeOf'] {
  const outcomeOf = outcomes(seed);
  const isPatient = retryMs > USUAL_RETRY_MS;
  return (run) => {
    const { happening, ...more } = outcomeOf(run);
    const task = [...executions.get(run.execution)!.tasks.values()].find(({ idx }) => idx === run.idx);
    const looksLong = hasLongLooks && task?.deferral != null;
    const durationMs = looksLong ? more.durationMs + LOOK_MS : lasting(more.durationMs, hasEndless);
    const isFirst = run.execution === executionIdOf(0);
    const at = { idx: run.idx, attempt: run.attempt };
    if (isFirst && maxConcurrent !== null && run.attempt === 1 && run.idx % 4 === seed % 4) {
      const untilExecution = lastElsewhere(executions);
      if (untilExecution)
        return {
          durationMs,
          happening: { kind: 'deferred', message: 'waits', untilExecution, checkAfterMs: 3_600_000, ...at },
        };
    }
    if (happening.kind === 'retry') return { durationMs, happening: { ...happening, retryAfterMs: retryMs } };
    if (happening.kind !== 'deferred') return { durationMs, happening };
    const waits = { ...happening, checkAfterMs: happening.checkAfterMs * (isPatient ? PATIENCE : 1) };
    if (run.attempt % 2 === 0) return { durationMs, happening: waits };
    const last = isFirst ? lastElsewhere(executions) : null;
    // Then only the end of that execution wakes it.
    if (last !== null)
      return { durationMs, happening: { ...waits, untilExecution: last, checkAfterMs: 3_600_000 } };
    const ids = [...executions.keys()];
    return { durationMs, happening: { ...waits, untilExecution: ids[run.idx % ids.length]! } };
  };
}

/** Makes some runs long enough to be hit by a kill. */
function lasting(ms: number, hasEndless: boolean): number {
  if (hasEndless && ms > ENDLESS_FROM_MS) return ms * ENDLESS;
  return ms > LONG_FROM_MS ? ms * LONG : ms;
}

/**
 * Returns the last requested execution, if it is on another deployment than the first one: otherwise it would itself wait for the
 * first one.
 */
function lastElsewhere(executions: MemoryDatabase['executions']): string | null {
  const first = executions.get(executionIdOf(0))!.row;
  const last = [...executions.values()].findLast(({ row }) => isUuid(row.id))!.row;
  return last.deployment_id === first.deployment_id ? null : last.id;
}
