import { StringDecoder } from 'node:string_decoder';

const HEADER = 8;
const KEPT_CHARACTERS = 64 * 1024;

/** Reads the output of a container: frames with a kind and a length before each piece, or the bytes of a terminal as they are. */
export function outputOf(isTerminal: boolean): { onData(piece: Buffer): void; text(): string } {
  const decoder = new StringDecoder('utf8');
  let rest: Buffer = Buffer.alloc(0);
  let left = 0;
  let text = '';
  const keep = (piece: Buffer): void => {
    text = (text + decoder.write(piece)).slice(-KEPT_CHARACTERS);
  };
  return {
    onData: (piece) => {
      if (isTerminal) return keep(piece);
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      for (;;) {
        if (left === 0) {
          if (rest.length < HEADER) return;
          left = rest.readUInt32BE(4);
          rest = rest.subarray(HEADER);
        }
        if (rest.length === 0) return;
        const part = rest.subarray(0, left);
        keep(part);
        left -= part.length;
        rest = rest.subarray(part.length);
      }
    },
    text: () => text,
  };
}
