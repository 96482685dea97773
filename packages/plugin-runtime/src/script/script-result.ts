import type { OperationErrorKind } from '@baton/plugin-sdk';
import { FatalError, OperationRetry } from '@baton/plugin-sdk';
import { endOfKind, endOfThrown, type OperationEnd, type OperationFailure } from '../operation-end';

const ILLEGAL_RESULT = 'ctx may only abort or return once';

type Recorded =
  | { kind: 'returns'; value: unknown }
  | { kind: 'abort'; message: string }
  | { kind: 'retry'; message: string | undefined; retryAfter: number | null };

/** The exception that ended a Python script, as its runner describes it. */
export type Raised = OperationFailure & { kind: OperationErrorKind; retryAfter: number | null };

/** The result that a script set through ctx, and the end that follows from it (reference/workflows.md 5.3). */
export class ScriptResult {
  raised: Raised | null = null;
  #recorded: Recorded | null = null;
  #isIllegal = false;

  /** @throws FatalError at the second call of returns, abort or retry; the run then fails with any exit code. */
  record(recorded: Recorded): void {
    if (this.#recorded) {
      this.#isIllegal = true;
      throw new FatalError(ILLEGAL_RESULT);
    }
    this.#recorded = recorded;
  }

  /** Returns the end decided by ctx calls or an exception; null: the exit code decides. */
  end(): OperationEnd | null {
    if (this.#isIllegal) return endOfThrown(new FatalError(ILLEGAL_RESULT));
    if (this.raised) return endOfKind(this.raised.kind, this.raised);
    const decided = this.decided();
    return decided && endOfThrown(decided);
  }

  /** The error that ctx calls decided for; null: none. */
  decided(): FatalError | OperationRetry | null {
    const recorded = this.#recorded;
    if (this.#isIllegal) return new FatalError(ILLEGAL_RESULT);
    if (recorded?.kind === 'abort') return new FatalError(recorded.message);
    if (recorded?.kind === 'retry')
      return new OperationRetry(recorded.message, { retryAfter: recorded.retryAfter });
    return null;
  }

  get returned(): unknown {
    return this.#recorded?.kind === 'returns' ? this.#recorded.value : null;
  }
}
