import { ArchiveRefused } from '../archive-refused';
import { ValueCutter } from './value-cutter';

/** A member of the object at the top of a page, other than `items`, as JSON text. */
export interface FoundMember {
  kind: 'member';
  key: string;
  text: Buffer;
}

export interface FoundItem {
  kind: 'item';
  /** From 1. */
  item: number;
  text: Buffer;
  /** False where the text may hold what JSON.parse rounds or does not know: long numbers, NaN, Infinity. */
  isPlain: boolean;
}

export interface ScanLimits {
  maxItemBytes: number;
  maxDepth: number;
  /** False: the items are passed over, and only members are returned. */
  keepItems: boolean;
}

type State = 'start' | 'key' | 'colon' | 'value' | 'after-member' | 'item' | 'after-item' | 'done';

const MAX_MEMBER_BYTES = 64 * 1024;
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const [COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Cuts a page `{"type": ..., "items": [...]}` into its members and items while it arrives. At most one item is held. An `items`
 * that is an object counts as one item.
 */
export class PageScanner {
  #state: State = 'start';
  #key = '';
  #items = 0;
  #isFirst = true;
  #cutter: ValueCutter | null = null;

  constructor(
    private readonly file: string,
    private readonly limits: ScanLimits,
  ) {}

  /** Whether the list of items has begun. */
  get isInItems(): boolean {
    return this.#state === 'item' || this.#state === 'after-item';
  }

  /** Takes the next bytes and returns what is complete now. @throws ArchiveRefused json or limit */
  push(piece: Buffer): (FoundMember | FoundItem)[] {
    const found: (FoundMember | FoundItem)[] = [];
    let at = 0;
    while (at < piece.length) {
      if (this.#cutter) at = this.#continue(this.#cutter, piece, at, found);
      else if (SPACES.has(piece[at]!)) at++;
      else at = this.#step(piece, at);
    }
    return found;
  }

  /** @throws ArchiveRefused where the page is not complete */
  end(): void {
    if (this.#state !== 'done') throw this.#refuse('the JSON ends too early');
  }

  #refuse(reason: string): ArchiveRefused {
    const isItem = this.#state === 'item' || this.#state === 'after-item';
    return new ArchiveRefused('json', reason, {
      file: this.file,
      ...(isItem ? { item: this.#items + 1 } : {}),
    });
  }

  #continue(cutter: ValueCutter, piece: Buffer, at: number, found: (FoundMember | FoundItem)[]): number {
    const end = cutter.feed(piece, at);
    if (end === -1) return piece.length;
    this.#cutter = null;
    const text = cutter.text();
    if (this.#state === 'key') {
      this.#key = keyOf(text) ?? this.#fail('a key is no text');
      this.#state = 'colon';
    } else if (this.#state === 'item') {
      this.#items++;
      if (this.limits.keepItems)
        found.push({ kind: 'item', item: this.#items, text, isPlain: cutter.isPlain });
      this.#state = 'after-item';
    } else {
      if (this.#key === 'items')
        found.push({ kind: 'item', item: ++this.#items, text, isPlain: cutter.isPlain });
      else found.push({ kind: 'member', key: this.#key, text });
      this.#state = 'after-member';
    }
    return end;
  }

  #fail(reason: string): never {
    throw this.#refuse(reason);
  }

  /** Handles one byte between values. */
  #step(piece: Buffer, at: number): number {
    const byte = piece[at]!;
    switch (this.#state) {
      case 'start':
        if (byte !== OPEN) this.#fail('expected a JSON object with type and items');
        this.#state = 'key';
        return at + 1;
      case 'key':
        if (byte === CLOSE && this.#isFirst) return this.#finish(at);
        this.#isFirst = false;
        return this.#begin(at, MAX_MEMBER_BYTES, true);
      case 'colon':
        if (byte !== COLON) this.#fail(`expected a colon after ${JSON.stringify(this.#key.slice(0, 100))}`);
        this.#state = 'value';
        return at + 1;
      case 'value':
        if (this.#key !== 'items') return this.#begin(at, MAX_MEMBER_BYTES, true);
        if (byte !== OPEN_LIST) return this.#begin(at, this.limits.maxItemBytes, true);
        this.#state = 'item';
        this.#isFirst = true;
        return at + 1;
      case 'item':
        if (byte === CLOSE_LIST && this.#isFirst) return this.#closeList(at);
        this.#isFirst = false;
        return this.#begin(at, this.limits.maxItemBytes, this.limits.keepItems);
      case 'after-item':
        if (byte === CLOSE_LIST) return this.#closeList(at);
        if (byte !== COMMA) this.#fail('expected a comma or the end of the list');
        this.#state = 'item';
        return at + 1;
      case 'after-member':
        if (byte === CLOSE) return this.#finish(at);
        if (byte !== COMMA) this.#fail('expected a comma or the end of the object');
        this.#state = 'key';
        return at + 1;
      case 'done':
        return this.#fail('there is more after the end of the object');
    }
  }

  #begin(at: number, maxBytes: number, isKept: boolean): number {
    const place = { file: this.file, ...(this.#state === 'item' ? { item: this.#items + 1 } : {}) };
    this.#cutter = new ValueCutter({ maxBytes, maxDepth: this.limits.maxDepth, isKept, place });
    return at;
  }

  #closeList(at: number): number {
    this.#state = 'after-member';
    return at + 1;
  }

  #finish(at: number): number {
    this.#state = 'done';
    return at + 1;
  }
}

function keyOf(text: Buffer): string | null {
  try {
    const key: unknown = JSON.parse(text.toString('utf8'));
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}
