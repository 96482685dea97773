import { pipeline, type Readable, Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import { ZipRefused } from './zip-refused';

/** What the central directory says of the content of an entry. */
export interface Declared {
  name: string;
  size: number;
  crc32: number;
}

/**
 * The content, as long as it is what was declared. The stream ends with ZipRefused at the first byte beyond the declared
 * size, at an early end, and at a wrong checksum (which is only known at the end).
 */
export function checkedContent(content: Readable, { name, size, crc32: expected }: Declared): Readable {
  let seen = 0;
  let sum = 0;
  const check = new Transform({
    transform(piece: Buffer, _encoding, done) {
      seen += piece.length;
      if (seen > size) return done(new ZipRefused(`it holds more than the declared ${size} bytes`, name));
      sum = crc32(piece, sum);
      done(null, piece);
    },
    flush(done) {
      if (seen < size) return done(new ZipRefused(`it ends after ${seen} of ${size} bytes`, name));
      done(sum === expected ? null : new ZipRefused('its checksum is wrong', name));
    },
  });
  // A reader that stops early destroys `check`, and with it the content; errors of the content reach the reader through it.
  content.once('error', (error) =>
    check.destroy(error instanceof ZipRefused ? error : new ZipRefused(error.message, name)),
  );
  pipeline(content, check, () => undefined);
  return check;
}
