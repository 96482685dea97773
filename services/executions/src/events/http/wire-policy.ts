import type { EventNames } from '../queries/list-events';
import { legacyEvent } from './v2.1/events';

/** The differences between the wires for events. */
export interface EventsWire {
  /** Values of the field `type` for events and for log lines. */
  names: Pick<EventNames, 'event' | 'log'>;
  /** Returns the form of v2.1 of an event given in the form of v3.1. */
  presentLegacy(event: Record<string, unknown>): Record<string, unknown>;
  /** Whether a list contains the number of items that its filters left out. */
  tellsFiltered: boolean;
}

/** The wire of the specification. */
export const specEvents: EventsWire = {
  names: { event: 'platform_event', log: 'platform_log' },
  presentLegacy: legacyEvent,
  tellsFiltered: true,
};
