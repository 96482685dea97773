/**
 * The reason why the standalone does not start, as one sentence for a person at a terminal: the fault, its place, and the remedy.
 * It is printed without a stack.
 */
export class StartRefused extends Error {
  constructor(
    message: string,
    /** 78 for wrong settings or wrong files, 1 for problems that may be gone at the next try. */
    readonly exitCode: 1 | 78,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StartRefused';
  }
}
