import type { AnyQuery } from '@baton/postgres';
import type { Startable } from '../../groups/store/execution-groups.sql';
import { blockingSystemExecutions } from '../store/queue.sql';

/**
 * Returns which executions may begin, as far as system-wide executions allow it. Beside one at work: nothing. While one is queued:
 * only executions that others wait for, since it waits for these others itself (executions/domain/admission.ts).
 */
export async function openTo(db: AnyQuery): Promise<Startable | 'nothing'> {
  if ((await blockingSystemExecutions(db)).length === 0) return 'all';
  return (await blockingSystemExecutions(db, true)).length === 0 ? 'awaited' : 'nothing';
}
