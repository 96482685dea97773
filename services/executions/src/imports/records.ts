import { type ImportContext, type Judgement, sharedMap } from '@baton/import-part';
import { isUuid } from '@baton/kernel';

/** What this run knows of an execution of the archive. */
export interface TakenExecution {
  fate: string;
  /** Number of its last event; null: not looked up yet. */
  lastSeq: number | null;
  /** Events that an earlier import brought stay, and none is added. */
  hasEvents: boolean;
  /** Time of the event with that number. */
  lastAt: string;
  /** Events came in another order than that of their times. */
  isUnordered: boolean;
}

/** Executions of the tenant's archive by id. */
export const takenExecutions = (context: ImportContext): Map<string, TakenExecution> =>
  sharedMap<TakenExecution>(context, `executions of ${context.tenant}`);

/** Decides by its execution whether a record can be taken; null: nothing speaks against it. */
export function judgeByExecution(context: ImportContext, executionId: string | null): Judgement | null {
  const taken = executionId === null ? undefined : takenExecutions(context).get(executionId);
  if (!taken || taken.fate === 'lost')
    return { fate: 'lost', code: 'dangling', text: 'its execution is not imported' };
  if (taken.fate === 'skipped' || taken.fate === 'conflict')
    return { fate: 'skipped', code: 'execution-skipped', text: 'its execution here is kept as it is' };
  return null;
}

/** An id that is no UUID cannot be kept. */
export const judgeId = (id: string): Judgement | null =>
  isUuid(id)
    ? null
    : { fate: 'lost', code: 'invalid', text: 'id is a text that does not fit; expected a UUID' };
