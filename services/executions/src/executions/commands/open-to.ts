import type { AnyQuery } from '@baton/postgres';
import type { Startable } from '../../groups/store/execution-groups.sql';
import { blockingSystemExecutions } from '../store/queue.sql';

/**
 * What may begin as far as system-wide executions go: nothing beside one that is at work; before one in the queue only what
 * others wait for, since it waits for these others itself (executions/domain/admission.ts).
 */
export async function openTo(db: AnyQuery): Promise<Startable | 'nothing'> {
  if ((await blockingSystemExecutions(db)).length === 0) return 'all';
  return (await blockingSystemExecutions(db, true)).length === 0 ? 'awaited' : 'nothing';
}
