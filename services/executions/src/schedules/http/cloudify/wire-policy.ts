import { badParameter } from '@baton/kernel';
import type { SchedulesWire } from '../wire-policy';

/** The wire of the original. */
export const cloudifySchedules: SchedulesWire = {
  // The original has no value where no parameters were given.
  present: (row) => row,
  // It takes a recurrence of 0 days, and counts below 1.
  checkRule: () => undefined,
  // It leaves a comma-separated text to its clients.
  weekdaysOfText() {
    throw badParameter('weekdays', 'weekdays must be a list', { expected: 'a list such as ["mo", "tu"]' });
  },
  needsSince: ({ since }) => since === undefined,
};
