/** Limits that keep hostile input cheap; each gives a clear error, never a crash. */
export interface ReadLimits {
  /** Characters of one text. */
  textLength: number;
  /** Characters of one scalar. */
  scalarLength: number;
  /** Depth of nested collections. */
  depth: number;
  /** Values of a document, keys included, with every alias written out. */
  expandedNodes: number;
}

export const defaultReadLimits: ReadLimits = {
  textLength: 10_000_000,
  scalarLength: 1_000_000,
  depth: 200,
  expandedNodes: 1_000_000,
};

/** A text that is not YAML. `stage`: the part of the reader that refused it. */
export class YamlError extends Error {
  constructor(
    readonly stage: 'reader' | 'scanner' | 'parser' | 'composer' | 'limit',
    message: string,
    readonly offset: number,
    readonly expected?: string,
  ) {
    super(message);
    this.name = 'YamlError';
  }
}
