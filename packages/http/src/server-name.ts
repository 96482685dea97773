/** Reads which server a client asks for, in the first bytes of a TLS connection (RFC 8446 4.1.2, RFC 6066 3). */

/** First byte of a TLS connection: a record of the handshake. */
export const TLS_HANDSHAKE = 0x16;
const CLIENT_HELLO = 0x01;
const SERVER_NAME = 0;
const RECORD_HEADER = 5;
/** Most bytes that are waited for: one record. A hello that is longer is taken as one without a name. */
const MAX_HELLO_BYTES = 16_384 + RECORD_HEADER;

/** Reads numbers and pieces one after the other; `isShort` once a read went beyond the end. */
class Reader {
  isShort = false;
  #at = 0;
  constructor(private readonly bytes: Buffer) {}
  get left(): number {
    return this.bytes.length - this.#at;
  }
  number(size: 1 | 2 | 3): number {
    if (this.left < size) {
      this.isShort = true;
      return 0;
    }
    const value = this.bytes.readUIntBE(this.#at, size);
    this.#at += size;
    return value;
  }
  /** The next `length` bytes. */
  piece(length: number): Buffer {
    if (this.left < length) this.isShort = true;
    const piece = this.bytes.subarray(this.#at, this.#at + length);
    this.#at = Math.min(this.bytes.length, this.#at + length);
    return piece;
  }
  /** A piece with its length in front. */
  sized(size: 1 | 2 | 3): Buffer {
    return this.piece(this.number(size));
  }
}

/**
 * Returns the server name of a connection that begins with `bytes`, in small letters; null: it names none, or is no TLS;
 * undefined: more bytes are needed.
 */
export function serverNameIn(bytes: Buffer): string | null | undefined {
  if (bytes.length > 0 && bytes[0] !== TLS_HANDSHAKE) return null;
  if (bytes.length < RECORD_HEADER) return undefined;
  const length = bytes.readUInt16BE(3);
  if (RECORD_HEADER + length > MAX_HELLO_BYTES) return null;
  if (bytes.length < RECORD_HEADER + length) return undefined;
  return nameInHello(bytes.subarray(RECORD_HEADER, RECORD_HEADER + length));
}

function nameInHello(record: Buffer): string | null {
  const message = new Reader(record);
  if (message.number(1) !== CLIENT_HELLO) return null;
  const hello = new Reader(message.sized(3));
  // Version and random bytes; session, cipher suites, compression.
  hello.piece(34);
  hello.sized(1);
  hello.sized(2);
  hello.sized(1);
  const extensions = new Reader(hello.sized(2));
  if (message.isShort || hello.isShort) return null;
  while (extensions.left > 0 && !extensions.isShort) {
    const kind = extensions.number(2);
    const content = extensions.sized(2);
    if (kind === SERVER_NAME && !extensions.isShort) return nameInList(new Reader(content));
  }
  return null;
}

function nameInList(content: Reader): string | null {
  const list = new Reader(content.sized(2));
  const kind = list.number(1);
  const name = list.sized(2);
  if (content.isShort || list.isShort || kind !== SERVER_NAME) return null;
  return name.toString('latin1').toLowerCase();
}
