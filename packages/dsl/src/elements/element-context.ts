import { diagnostic } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import type { ShapeContext } from '../schema/check-shape';
import type { MapNode } from '../yaml/node';

/** Shared data of the parsing of one merged document. */
export interface ElementContext extends ShapeContext {
  root: MapNode;
  /** Whether an implementation text names a script; determined before the elements are parsed. */
  isScript: (implementation: string) => boolean;
  /** Steps left for work that the text's size does not limit (inherited entries, written-out defaults). */
  work: WorkBudget;
  /** Node templates that are partly unknown (an unknown type or parent type): missing parts of them are not reported. */
  partialNodes: Set<string>;
}

/** Limits of a blueprint's expansion; `left` and `values` count down. */
export interface WorkBudget {
  /** Steps of a microsecond or so. */
  left: number;
  /** Values that defaults add to the plan; shared ones cost nothing until the plan is written out. */
  values: number;
}

const MAX_STEPS = 1_000_000;
const MAX_VALUES = 4_000_000;

export function newWorkBudget(): WorkBudget {
  return { left: MAX_STEPS, values: MAX_VALUES };
}

function exceeded(): never {
  throw new DslError(
    diagnostic('limit_exceeded', 'types and templates of this blueprint expand to too much', {
      expected: `at most ${MAX_STEPS} inherited and ${MAX_VALUES} default values`,
    }),
  );
}

/** Takes `steps` from the budget; throws a clear error when the blueprint needs more. */
export function spend(work: WorkBudget, steps: number): void {
  work.left -= steps;
  if (work.left < 0) exceeded();
}

export function spendValues(work: WorkBudget, values: number): void {
  work.values -= values;
  if (work.values < 0) exceeded();
}
