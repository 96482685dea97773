import type { EventNames } from '../queries/list-events';
import { legacyEvent } from './v2.1/events';

/** What differs between the wires for events. */
export interface EventsWire {
  /** What `type` says of events and of logs. */
  names: Pick<EventNames, 'event' | 'log'>;
  /** The form of v2.1 of an event in the form of v3.1. */
  presentLegacy(event: Record<string, unknown>): Record<string, unknown>;
  /** Whether a list says how many its filters left out. */
  tellsFiltered: boolean;
}

/** The wire of the specification. */
export const specEvents: EventsWire = {
  names: { event: 'platform_event', log: 'platform_log' },
  presentLegacy: legacyEvent,
  tellsFiltered: true,
};
