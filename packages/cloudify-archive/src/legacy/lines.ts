import { ArchiveRefused, type Place } from '../archive-refused';

export interface Line {
  /** Without its end; \r\n ends a line as well. */
  bytes: Buffer;
  /** From 1. */
  number: number;
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Cuts bytes into lines. Only the line that is being read is held. */
export class LineCutter {
  #pieces: Buffer[] = [];
  #held = 0;
  #number = 0;

  /** `place` names the table for the message. */
  constructor(
    private readonly maxBytes: number,
    private readonly place: (line: number) => Place,
  ) {}

  /** Lines that end in this piece, and those before it that do. @throws ArchiveRefused limit */
  *push(piece: Buffer): Generator<Line, void, void> {
    let from = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, from)) {
      yield this.#line(piece.subarray(from, end));
      from = end + 1;
    }
    if (from === piece.length) return;
    this.#held += piece.length - from;
    this.#pieces.push(piece.subarray(from));
    this.#check(this.#held);
  }

  /** The last line, where it has no end. */
  end(): Line | null {
    return this.#held === 0 ? null : this.#line(Buffer.alloc(0));
  }

  #line(last: Buffer): Line {
    this.#check(this.#held + last.length);
    const whole = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#held = 0;
    const isCrLf = whole.length > 0 && whole[whole.length - 1] === RETURN;
    return { bytes: isCrLf ? whole.subarray(0, -1) : whole, number: ++this.#number };
  }

  #check(length: number): void {
    if (length > this.maxBytes)
      throw new ArchiveRefused(
        'limit',
        `the line is longer than ${this.maxBytes} bytes`,
        this.place(this.#number + 1),
      );
  }
}
