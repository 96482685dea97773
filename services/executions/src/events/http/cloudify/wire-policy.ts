import type { EventsWire } from '../wire-policy';
import { mixedEvent } from './events';

/** The wire of the original. */
export const cloudifyEvents: EventsWire = {
  names: { event: 'cloudify_event', log: 'cloudify_log' },
  presentLegacy: mixedEvent,
  tellsFiltered: false,
};
