import { ArchiveRefused, type Place } from '../archive-refused';

interface CutLimits {
  maxBytes: number;
  maxDepth: number;
  /** False: the bytes are passed over and not held. */
  isKept: boolean;
  place: Place;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Whole numbers of up to 15 digits are exact as numbers of JavaScript. */
const EXACT_DIGITS = 15;

/**
 * Finds the end of one JSON value in bytes that arrive in pieces, without understanding more of it than strings and nesting.
 * What it cuts out is parsed afterwards, which finds all other faults.
 */
export class ValueCutter {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #hasBegun = false;
  #digits = 0;
  /** False where the value may hold a number of more than 15 digits, NaN or Infinity. */
  isPlain = true;

  constructor(private readonly limits: CutLimits) {}

  /** Returns the position after the value, or -1 where the value goes on beyond this piece. */
  feed(piece: Buffer, from: number): number {
    const end = this.#endIn(piece, from);
    const part = piece.subarray(from, end === -1 ? piece.length : end);
    this.#bytes += part.length;
    if (this.limits.isKept) {
      if (this.#bytes > this.limits.maxBytes)
        throw new ArchiveRefused(
          'limit',
          `it is larger than ${this.limits.maxBytes} bytes`,
          this.limits.place,
        );
      // A copy is not needed: pieces of a stream are not written again.
      this.#pieces.push(part);
    }
    return end;
  }

  text(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }

  #endIn(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at]!;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#inString = false;
          if (this.#depth === 0) return at + 1;
        }
        continue;
      }
      const end = this.#structure(byte, at);
      if (end !== -1) return end;
    }
    return -1;
  }

  /** A byte outside of strings. Returns the end of the value, or -1. */
  #structure(byte: number, at: number): number {
    if (byte >= 0x30 && byte <= 0x39) {
      if (++this.#digits > EXACT_DIGITS) this.isPlain = false;
      this.#hasBegun = true;
      return -1;
    }
    this.#digits = 0;
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++this.#depth > this.limits.maxDepth)
          throw new ArchiveRefused(
            'limit',
            `it is nested deeper than ${this.limits.maxDepth}`,
            this.limits.place,
          );
        break;
      case 0x5d: // ]
      case 0x7d: // }
        // The end of what surrounds a number or word.
        if (this.#depth === 0) return this.#hasBegun ? at : this.#fail();
        if (--this.#depth === 0) return at + 1;
        break;
      case 0x2c: // ,
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        if (this.#depth === 0) return this.#hasBegun ? at : this.#fail();
        break;
      case 0x4e: // N of NaN
      case 0x49: // I of Infinity
        this.isPlain = false;
        break;
      default:
    }
    this.#hasBegun = true;
    return -1;
  }

  #fail(): never {
    throw new ArchiveRefused('json', 'expected a JSON value', this.limits.place);
  }
}
