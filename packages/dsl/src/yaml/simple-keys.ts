import { YamlError } from './limits';

/** A place where a key without `?` may have begun: its colon decides. */
export interface PossibleKey {
  /** Number of the token before which the key would be inserted. */
  tokenNumber: number;
  /** In a block, a text at the indentation of keys must be a key. */
  isRequired: boolean;
  start: number;
  line: number;
  column: number;
}

/** A simple key must end on its line, within this number of characters. */
const SIMPLE_KEY_MAX = 1024;

/** At most one possible key per flow level; level 0 is the surrounding block. Keys of deeper levels are younger. */
export class SimpleKeys {
  private readonly keys: (PossibleKey | undefined)[] = [];

  at(level: number): PossibleKey | undefined {
    return this.keys[level];
  }

  /** Number of the oldest token that may still get a key before it; infinite when there is none. */
  get oldest(): number {
    for (const key of this.keys) if (key) return key.tokenNumber;
    return Number.POSITIVE_INFINITY;
  }

  put(level: number, key: PossibleKey): void {
    this.remove(level);
    this.keys[level] = key;
  }

  /** The possible key is a key. */
  take(level: number): void {
    this.keys[level] = undefined;
  }

  /** The possible key is not a key. @throws YamlError when it is required. */
  remove(level: number): void {
    const key = this.keys[level];
    if (key?.isRequired)
      throw new YamlError('scanner', 'a key has no ":" behind it', key.start, '":" on the same line');
    this.keys[level] = undefined;
  }

  /** Removes possible keys that are too far back. @throws YamlError as `remove`. */
  dropStale(line: number, pos: number): void {
    for (let level = 0; level < this.keys.length; level++) {
      const key = this.keys[level];
      if (!key) continue;
      if (key.line === line && pos - key.start <= SIMPLE_KEY_MAX) return;
      this.remove(level);
    }
  }

  /** A flow collection of `level` ended. */
  leave(level: number): void {
    this.keys.length = Math.min(this.keys.length, Math.max(level, 1));
  }
}
