import type { Drift } from '../api/answers';
import { leavesOf } from '../update/diff';

type Finding = Drift['instances'][number]['findings'][number];

export interface DriftLine {
  /** `expected.size`; empty: the whole. */
  path: string;
  /** Undefined: nothing is expected there. */
  expected: unknown;
  /** Undefined: there is nothing. */
  found: unknown;
}

/** The smallest values that differ. A difference of which both sides look the same stays as it was told. */
export const driftLines = ({ changes }: Pick<Finding, 'changes'>): DriftLine[] =>
  changes.flatMap(({ path, expected, actual }) => {
    const at = path.join('.');
    const leaves = leavesOf(at, expected, actual);
    return leaves.length === 0
      ? [{ path: at, expected, found: actual }]
      : leaves.map(({ path: leaf, before, after }) => ({ path: leaf, expected: before, found: after }));
  });
