import { diagnostic } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import type { ShapeContext } from '../schema/check-shape';
import type { MapNode } from '../yaml/node';

/** What parsing one merged document carries around. */
export interface ElementContext extends ShapeContext {
  root: MapNode;
  /** Whether an implementation text names a script: answered before the elements are parsed. */
  isScript: (implementation: string) => boolean;
  /** Steps left for work that the text's size does not bound (inherited entries, written-out defaults). */
  work: WorkBudget;
  /** Node templates of which something is unknown (their type, or what it is derived from): not blamed for what they lack. */
  partialNodes: Set<string>;
}

/** Bounds on what a blueprint may expand to; `left` and `values` count down. */
export interface WorkBudget {
  /** Steps of a microsecond or so. */
  left: number;
  /** Values that the plan holds through defaults; shared ones cost nothing until somebody writes the plan out. */
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

/** Takes `steps` from the budget; a blueprint that needs more ends with a clear error. */
export function spend(work: WorkBudget, steps: number): void {
  work.left -= steps;
  if (work.left < 0) exceeded();
}

export function spendValues(work: WorkBudget, values: number): void {
  work.values -= values;
  if (work.values < 0) exceeded();
}
