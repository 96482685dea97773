import { createHash } from 'node:crypto';

const WORDS = 8;
const WORD = 2 ** 32;
/** Sums of this many 32-bit words stay exact in a double. */
const CARRY_AFTER = 2 ** 20;

/**
 * Canonical hash of a set of rows: the sum of the rows' SHA-256 modulo 2^256. So the order of the rows does not matter, and
 * repeated rows do. It only tells states apart; the seal of the manifest protects an archive against forgery.
 */
export class RowHash {
  readonly #sums = new Array<number>(WORDS).fill(0);
  #pending = 0;
  rows = 0;

  /** `line`: the row as JSON, columns by name. */
  add(line: string | Uint8Array): void {
    const digest = createHash('sha256').update(line).digest();
    for (let word = 0; word < WORDS; word++) this.#sums[word]! += digest.readUInt32BE(word * 4);
    this.rows++;
    if (++this.#pending === CARRY_AFTER) this.#carry();
  }

  /** 64 hex digits. */
  digest(): string {
    this.#carry();
    return this.#sums.map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  #carry(): void {
    let carry = 0;
    for (let word = WORDS - 1; word >= 0; word--) {
      const sum = this.#sums[word]! + carry;
      this.#sums[word] = sum % WORD;
      carry = Math.floor(sum / WORD);
    }
    this.#pending = 0;
  }
}
