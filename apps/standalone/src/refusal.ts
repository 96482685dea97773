/**
 * Why the standalone does not start, as one sentence for a person at a terminal: what is wrong, where, and what to do.
 * It is printed without a stack.
 */
export class StartRefused extends Error {
  constructor(
    message: string,
    /** 78 for what is set or lies there wrongly, 1 for what may be different at the next try. */
    readonly exitCode: 1 | 78,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StartRefused';
  }
}
