import type { Random } from '../random';
import type { VirtualFaults } from './virtual';

/** What the world of a seed is like. Parts that have nothing to do with each other are thrown alone. */
export interface Conditions {
  faults: VirtualFaults;
  engines: readonly string[];
  commitMs: number;
  /** Null: every execution has a deployment of its own and starts at once; else all of them queue for few. */
  maxConcurrent: number | null;
  executions: number;
  /** Something waits in the queue until nothing else is at work. */
  isWide: boolean;
  /** Before an operation is tried again. */
  retryMs: number;
  /** Some operations go on for longer than everything that does not wait for them. */
  hasEndless: boolean;
  /** Ends that are resumed before their last operations are over, as a share. */
  resumedAtOnce: number;
  /** When the deployments service does not answer at all; and the share of calls that it is slow with. */
  away: { from: number; until: number };
  slow: number;
  /** Longer than another replica waits before it does the same, or than a forced cancel may take. */
  slowMs: number;
  /** Operations that had waited take long when they look again. */
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
    // With one replica the graph in memory is used for long, and a slow disk has many steps share a commit.
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
