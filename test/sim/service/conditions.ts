import type { Random } from '../random';
import type { VirtualFaults } from './virtual';

/** The conditions of the world of a seed. Independent parts are drawn independently. */
export interface Conditions {
  faults: VirtualFaults;
  engines: readonly string[];
  commitMs: number;
  /**
   * Null: every execution has its own deployment and starts immediately. Otherwise all executions share few deployments and queue
   * for them.
   */
  maxConcurrent: number | null;
  executions: number;
  /** A system-wide execution waits in the queue until nothing else is at work. */
  isWide: boolean;
  /** Delay before an operation is retried. */
  retryMs: number;
  /** Some operations last longer than everything that does not wait for them. */
  hasEndless: boolean;
  /** Share of ended executions that are resumed before their last operations are over. */
  resumedAtOnce: number;
  /** Time in which the deployments service does not answer at all; and the share of calls that it answers slowly. */
  away: { from: number; until: number };
  slow: number;
  /** Longer than another replica waits before it does the same, or than a forced cancel may take. */
  slowMs: number;
  /** Operations that had been waiting take long when they check again. */
  hasLongLooks: boolean;
}

export function conditionsOf(dice: Random): Conditions {
  const grade = dice.pick([0, 0.3, 1]);
  const awayFrom = dice.below(12_000);
  return {
    faults: {
      crash: 0.003 * grade,
      lose: 0.05 * grade,
      duplicate: 0.1 * grade,
      commitRefused: dice.pick([0.06, 0.06, 0.3]) * grade,
      commitAnswerLost: 0.02 * grade,
      pause: 0.004 * grade,
      stall: dice.pick([0, 0, 0.01]) * grade,
    },
    // A single replica reuses its graph in memory for long; with a slow disk many steps share a commit.
    maxConcurrent: dice.pick([null, null, 1, 1, 3]),
    engines: dice.pick([['engine-1'], ['engine-1', 'engine-2']]),
    commitMs: dice.pick([0.3, 25]),
    executions: dice.pick([2, 4, 8]),
    isWide: dice.chance(0.4),
    retryMs: dice.pick([40, 3_000]),
    hasEndless: dice.chance(0.4),
    resumedAtOnce: dice.pick([0, 0.7]),
    away: dice.chance(0.25)
      ? { from: awayFrom, until: awayFrom + 9_000 + dice.below(5_000) }
      : { from: 0, until: 0 },
    slow: dice.pick([0, 0, 0.15]),
    slowMs: dice.pick([8_000, 25_000]),
    hasLongLooks: dice.chance(0.4),
  };
}
