import type { ItemOf } from '@baton/client';
import type { InstanceContext, OperationLogger } from '@baton/plugin-sdk';
import type { Scope } from './scope';
import { receivedEvents } from './state';

type Event = ItemOf<'listEvents'>;

const PAGE = 500;
/** Limits one run; the remaining events follow in the next run. */
const MAX_PAGES = 4;

/** Returns `<timestamp> [<node instance>.<operation>] <message>`, the reference's format for events of a component (8.1). */
export function lineOf({ reported_timestamp, node_instance_id, operation, message }: Event): string {
  const last = operation?.split('.').at(-1);
  const prompt = node_instance_id ? `[${node_instance_id}${last ? `.${last}` : ''}] ` : '';
  return `${reported_timestamp ?? ''} ${prompt}${message ?? ''}`;
}

/** Returns the level of the original line; `info` for events, which have none. */
export function levelOf({ level }: Event): keyof OperationLogger {
  const name = (level ?? 'info').toLowerCase();
  if (name === 'warn') return 'warning';
  return ['debug', 'info', 'warning', 'error', 'critical'].includes(name)
    ? (name as keyof OperationLogger)
    : 'info';
}

/**
 * Writes the new events of an execution into the log of this operation. Events of one execution are stored in order
 * under its lock, so the number of read events is a stable position. It is stored in `received_events` of `counter`.
 * Returns true when there are more events.
 */
export async function redirectEvents(
  { manager, ctx }: Pick<Scope, 'manager' | 'ctx'>,
  executionId: string,
  counter: InstanceContext,
): Promise<boolean> {
  const counts = receivedEvents(counter);
  let read = Number(counts[executionId] ?? 0);
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items } = await manager.client.call('listEvents', {
      query: { execution_id: executionId, _sort: 'timestamp', _offset: read, _size: PAGE },
    });
    for (const event of items) ctx.logger[levelOf(event)](lineOf(event));
    read += items.length;
    counts[executionId] = read;
    if (items.length < PAGE) return false;
  }
  return true;
}
