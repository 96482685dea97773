import { isUuid } from '@baton/kernel';
import { outcomes } from '../simulate';
import type { Conditions } from './conditions';
import type { MemoryDatabase } from './database';
import { executionIdOf } from './executions';
import type { Fleet } from './worker';

const LONG_FROM_MS = 400;
const LONG = 30;
/** The longest ones outlast retries, deadlines and cancels of their execution. */
const ENDLESS_FROM_MS = 600;
const ENDLESS = 150;
/** Looks of an operation that waits are this much rarer where retries are. */
const PATIENCE = 8;
const USUAL_RETRY_MS = 40;
const LOOK_MS = 6_000;

/**
 * What runs of operations come to in a world. Half of those that wait, wait for the end of an execution, their own one perhaps;
 * where executions queue, the first one waits for the last more often, for nothing else wakes it then.
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
    // Nothing but its end wakes it then.
    if (last !== null)
      return { durationMs, happening: { ...waits, untilExecution: last, checkAfterMs: 3_600_000 } };
    const ids = [...executions.keys()];
    return { durationMs, happening: { ...waits, untilExecution: ids[run.idx % ids.length]! } };
  };
}

/** Some take long enough for a kill to find them. */
function lasting(ms: number, hasEndless: boolean): number {
  if (hasEndless && ms > ENDLESS_FROM_MS) return ms * ENDLESS;
  return ms > LONG_FROM_MS ? ms * LONG : ms;
}

/** The last one that was asked for, where it does not wait for the first one itself: on another deployment. */
function lastElsewhere(executions: MemoryDatabase['executions']): string | null {
  const first = executions.get(executionIdOf(0))!.row;
  const last = [...executions.values()].findLast(({ row }) => isUuid(row.id))!.row;
  return last.deployment_id === first.deployment_id ? null : last.id;
}
