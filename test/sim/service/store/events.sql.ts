import * as real from '../../../../services/executions/src/events/store/events.sql';
import { change } from '../database';
import { memoryTx, statement } from './access';

export const { eventRow } = real;

export const appendEvents: typeof real.appendEvents = async (handle, execution, events) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const base = execution.last_event_seq;
  change(tx, execution.id, (stored) => {
    events.forEach(
      ({ eventType }, i) => void stored.events.push({ seq: base + 1 + i, type: eventType ?? '' }),
    );
  });
  return base + events.length;
};
