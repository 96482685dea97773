import type { Loop } from '@baton/service-runtime';
import { newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type FireSchedulesDeps, fireSchedules } from '../commands/fire-schedules';
import { forgetOccurrences } from '../commands/forget-occurrences';

type SchedulesLoopsDeps = Pick<Ports, 'db' | 'queue'> & FireSchedulesDeps;

const TICK_MS = 2_000;
const PURGE_MS = 3_600_000;

/** The schedule tick and the deletion of old occurrences, on every replica; maintenance mode stops the tick. */
export function scheduleLoops(deps: SchedulesLoopsDeps, settings: { keepOccurrencesDays: number }): Loop[] {
  const round = newRound();
  return [
    {
      name: 'schedule-tick',
      intervalMs: TICK_MS,
      tickOnce: async () => (deps.queue.isPaused() ? { again: false } : await fireSchedules(deps, round)),
    },
    {
      name: 'purge-occurrences',
      intervalMs: PURGE_MS,
      tickOnce: () => forgetOccurrences(deps.db, settings.keepOccurrencesDays),
    },
  ];
}
