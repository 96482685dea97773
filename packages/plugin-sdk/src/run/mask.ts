import type { OperationContext, OperationLogger } from '../context';
import { replacedPartsOf } from './replaced-parts';

/** Shorter texts are not masked: they stand in many words by chance. */
const MIN_LENGTH = 4;
const MIN_LINE_LENGTH = 8;
const MASKED = '********';

/** Values that must not be shown. */
export class Mask {
  readonly #values = new Set<string>();
  readonly #onHidden: (value: string) => void;

  constructor(onHidden: (value: string) => void = () => undefined) {
    this.#onHidden = onHidden;
  }

  /** Hides a text, or all texts and long numbers in a list or object. */
  add(value: unknown): void {
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) this.add(inner);
    else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      if (text.length < MIN_LENGTH) return;
      this.#values.add(text);
      this.#onHidden(text);
      // Programs print keys line by line.
      for (const line of text.includes('\n') ? text.split(/\r?\n/) : [])
        if (line.trim().length >= MIN_LINE_LENGTH) this.#values.add(line.trim());
    }
  }

  text(text: string): string {
    let shown = String(text);
    // The longest first: a value may be the beginning of another one.
    for (const value of [...this.#values].sort((a, b) => b.length - a.length))
      shown = shown.replaceAll(value, MASKED);
    return shown;
  }

  logger(logger: OperationLogger): OperationLogger {
    return {
      debug: (message) => logger.debug(this.text(message)),
      info: (message) => logger.info(this.text(message)),
      warning: (message) => logger.warning(this.text(message)),
      error: (message) => logger.error(this.text(message)),
      critical: (message) => logger.critical(this.text(message)),
    };
  }

  /** Masks the texts of an error and its causes in place, and returns the error. */
  thrown(thrown: unknown, depth = 0): unknown {
    if (typeof thrown === 'string') return this.text(thrown);
    if (!(thrown instanceof Error) || depth > MAX_CAUSES) return thrown;
    // Errors of the platform, such as that of an aborted signal, have members that only read.
    replace(thrown, 'message', this.text(thrown.message));
    if (thrown.stack !== undefined) replace(thrown, 'stack', this.text(thrown.stack));
    if (thrown.cause !== undefined) thrown.cause = this.thrown(thrown.cause, depth + 1);
    if (thrown instanceof AggregateError)
      thrown.errors = thrown.errors.map((inner) => this.thrown(inner, depth + 1));
    const { causes } = thrown as { causes?: { message?: string; traceback?: string }[] };
    for (const cause of Array.isArray(causes) ? causes : []) {
      cause.message = this.text(cause.message ?? '');
      cause.traceback = this.text(cause.traceback ?? '');
    }
    return thrown;
  }
}

const MAX_CAUSES = 8;

const replace = (error: Error, name: 'message' | 'stack', value: string): void =>
  void Object.defineProperty(error, name, { value, writable: true, configurable: true });

/** Runs `work`; what it throws is masked. A null result stands for none: results are JSON. */
export async function masked(
  ctx: OperationContext,
  work: (mask: Mask) => Promise<unknown>,
): Promise<unknown> {
  const mask = new Mask(replacedPartsOf(ctx).onHidden);
  try {
    return (await work(mask)) ?? null;
  } catch (thrown) {
    throw mask.thrown(thrown);
  }
}
