import type { OperationContext } from '../context';
import type { OperationClock } from '../tools/clock';
import type { RunProgram } from '../tools/exec';
import type { Send } from '../tools/http-send';
import type { SecretStore } from './secret-store';

/** What the test kit puts in the place of the outside. */
export interface ReplacedParts {
  send?: Send;
  run?: RunProgram;
  secrets?: SecretStore;
  clock?: OperationClock;
  /** Called with each value that must not be shown. */
  onHidden?(value: string): void;
}

/** A registered symbol: the test kit may come with another copy of this package. */
const replacedParts: unique symbol = Symbol.for('baton.replaced-parts') as never;

/** Marks a context of the test kit. */
export const withReplacedParts = (ctx: OperationContext, parts: ReplacedParts): OperationContext =>
  Object.assign(ctx, { [replacedParts]: parts });

/** The parts that are replaced; none on a manager. */
export const replacedPartsOf = (ctx: OperationContext): ReplacedParts =>
  (ctx as { [replacedParts]?: ReplacedParts })[replacedParts] ?? {};
