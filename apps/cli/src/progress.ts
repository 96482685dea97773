import { Transform } from 'node:stream';
import type { CliIo } from './cli-io';

const MEGABYTE = 1024 * 1024;
/** Progress is shown again after this many bytes. */
const STEP_BYTES = MEGABYTE;

/**
 * Passes bytes on and shows on a terminal how many there were, in one line of standard error that is written over. Without a
 * terminal it shows nothing.
 * @param total length in bytes; null = not known
 */
export function progress(
  io: Pick<CliIo, 'err' | 'isErrTerminal'>,
  verb: string,
  total: number | null,
): Transform {
  let bytes = 0;
  let next = 0;
  const show = (text: string): void => {
    if (io.isErrTerminal) io.err(`\r\u001b[K${text}`);
  };
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes >= next) {
        next = bytes + STEP_BYTES;
        const share =
          total === null || total === 0
            ? ''
            : ` of ${megabytes(total)} (${Math.floor((bytes / total) * 100)} %)`;
        show(`${megabytes(bytes)}${share} MB ${verb}`);
      }
      done(null, piece);
    },
    flush(done) {
      show('');
      done();
    },
    destroy(error, done) {
      if (error) show('');
      done(error);
    },
  });
}

const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);
