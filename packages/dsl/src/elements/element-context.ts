import type { DiagnosticKind } from '../diagnostics/kinds';
import type { Diagnostics, ReportDetails } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import { diagnostic } from '../diagnostics/diagnostic';
import type { ShapeContext } from '../schema/check-shape';
import type { MapNode } from '../yaml/node';

/** What parsing one merged document carries around. */
export interface ElementContext extends ShapeContext {
  root: MapNode;
  /** Whether an implementation text names a script: answered before the elements are parsed. */
  isScript: (implementation: string) => boolean;
  /** Steps left for work that the text's size does not bound (inherited entries, written-out defaults). */
  work: WorkBudget;
}

export interface WorkBudget {
  left: number;
}

export const DEFAULT_WORK = 4_000_000;

/** Takes `steps` from the budget; a blueprint that needs more ends with a clear error. */
export function spend(work: WorkBudget, steps: number): void {
  work.left -= steps;
  if (work.left >= 0) return;
  throw new DslError(diagnostic('limit_exceeded', 'types and templates of this blueprint expand to too much', { expected: `at most ${DEFAULT_WORK} inherited values` }));
}

export function report(context: { diagnostics: Diagnostics }, kind: DiagnosticKind, message: string, details: ReportDetails): void {
  context.diagnostics.report(kind, message, details);
}
