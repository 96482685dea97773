/** A mistake in the definition of a plugin: where it is (dotted path), what it is and what was expected. */
export class DefinitionError extends TypeError {
  /** `path`: the names from the plugin down to the mistake. */
  constructor(
    readonly path: readonly string[],
    problem: string,
    expected: string,
  ) {
    super(`${path.join('.')}: ${problem}; expected ${expected}`);
    this.name = 'DefinitionError';
  }
}
