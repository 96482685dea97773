/** What a pickled value consists of, before it becomes a value of an archive. Nodes may be shared, and hostile ones contain themselves. */
export type Node = null | boolean | number | bigint | string | PyBytes | PyList | PyDict | PyDate | ClassName;

/** A byte string: a text of Python 2, or bytes of Python 3. Decoded when the value is known to be a text. */
export class PyBytes {
  constructor(readonly bytes: Buffer) {}
}

/** A list, tuple, set, or a subclass of list. */
export class PyList {
  constructor(
    readonly kind: 'list' | 'tuple' | 'set',
    readonly items: Node[] = [],
  ) {}
}

/** A dict or a subclass of it; a later pair replaces an earlier one with the same key. */
export class PyDict {
  readonly pairs: [Node, Node][] = [];
  /** Whether attributes of an instance were left out. */
  hasAttributes = false;
}

/** A date or time, as text. */
export class PyDate {
  constructor(readonly text: string) {}
}

/** A class or function that a pickle names; it is never loaded. */
export class ClassName {
  constructor(readonly name: string) {}
}
