import { badParameter } from '@baton/kernel';
import type { SchedulesWire } from '../wire-policy';

/** The wire of the original. */
export const cloudifySchedules: SchedulesWire = {
  // The original has no value where no parameters were given, and does not tell what did not run.
  present: ({ latest_skip, ...row }) => row,
  // It takes a recurrence of 0 days, and counts below 1.
  checkRule: () => undefined,
  // The original does not accept a comma-separated text; its clients split it.
  weekdaysOfText() {
    throw badParameter('weekdays', 'weekdays must be a list', { expected: 'a list such as ["mo", "tu"]' });
  },
  needsSince: ({ since }) => since === undefined,
};
