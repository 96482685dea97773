import { PickleFault } from './pickle-fault';

/** Bytes of a pickle, read from the beginning to the end. Every read is checked against the end. */
export class Cursor {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  take(length: number): Buffer {
    const end = this.#at + length;
    if (length < 0 || end > this.bytes.length) throw new PickleFault('it ends too early');
    const part = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  uint(length: 2 | 4): number {
    return this.take(length).readUIntLE(0, length);
  }

  int32(): number {
    return this.take(4).readInt32LE(0);
  }

  /** A length of eight bytes. */
  length8(): number {
    const length = this.take(8).readBigUInt64LE(0);
    if (length > BigInt(this.bytes.length)) throw new PickleFault('it ends too early');
    return Number(length);
  }

  double(): number {
    return this.take(8).readDoubleBE(0);
  }

  /** Bytes up to the next line feed, without it. */
  line(): Buffer {
    const end = this.bytes.indexOf(0x0a, this.#at);
    if (end === -1) throw new PickleFault('it ends too early');
    const part = this.bytes.subarray(this.#at, end);
    this.#at = end + 1;
    return part;
  }
}
