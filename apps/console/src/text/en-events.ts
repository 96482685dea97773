/** Texts of the list of all events. */
import { many } from './en-words';

export const eventsTexts = {
  eventList: {
    title: 'Events',
    one: 'Event',
    gone: 'This event has been deleted',
    count: (n: number) => many(n, 'event'),
    columns: { time: 'Time', kind: 'Level or type', message: 'Message', deployment: 'Deployment' },
    empty: 'No events in this tenant yet',
    emptyHint: 'Executions write events while they run.',
    heldBelow: 'Held while you read. New events appear at the top.',
    hold: 'Hold',
    follow: 'Follow',
    filters: {
      more: 'More filters',
      message: 'Search in messages',
      deployment: 'Deployment, exact id',
      execution: 'Execution, exact id',
      type: 'Kind',
      anyType: 'Events and log lines',
      types: { platform_event: 'Events only', platform_log: 'Log lines only' } as Readonly<
        Record<string, string>
      >,
      from: 'From',
      to: 'Until',
    },
    facts: {
      time: 'Stored',
      reported: 'Happened',
      level: 'Level',
      eventType: 'Type',
      execution: 'Execution',
      deployment: 'Deployment',
      node: 'Node',
      instance: 'Node instance',
      operation: 'Operation',
      relationship: 'Relationship',
      logger: 'Logger',
      worker: 'Worker',
    },
  },
};
