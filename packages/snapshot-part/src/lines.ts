const NEWLINE = 0x0a;

/**
 * Splits `bytes` into complete lines; a line is never held twice in memory.
 * @throws RangeError for a line beyond `maxBytes`: input that is not NDJSON must not fill the memory.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer, void, void> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const piece of bytes) {
    const buffer = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    let from = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, from)) {
      const tail = buffer.subarray(from, end);
      if (restBytes + tail.length > maxBytes) throw new RangeError(`a line of more than ${maxBytes} bytes`);
      yield restBytes === 0 ? tail : Buffer.concat([...rest, tail]);
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    if (from < buffer.length) {
      rest.push(buffer.subarray(from));
      restBytes += buffer.length - from;
      if (restBytes > maxBytes) throw new RangeError(`a line of more than ${maxBytes} bytes`);
    }
  }
  if (restBytes > 0) yield Buffer.concat(rest);
}
