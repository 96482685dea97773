const hidden = new WeakMap<Secret<unknown>, unknown>();

/** A value that cannot be printed by accident: every serialisation gives `[redacted]`. */
export class Secret<T = string> {
  constructor(value: T) {
    hidden.set(this, value);
  }
  /** The value itself; call it only where the value is used. */
  expose(): T {
    return hidden.get(this) as T;
  }
  toString(): string {
    return '[redacted]';
  }
  toJSON(): string {
    return '[redacted]';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[redacted]';
  }
}
