/**
 * Answers between a service and the gateway in which what stands in an answer repeatedly is sent once: in a list of 50
 * deployments of one blueprint nine tenths of the bytes are workflows that all of them have. The gateway asks for it by
 * this header, and a packed answer has it too, with the bytes of its layout: layout, then the distinct pieces.
 */
export const packedHeader = 'x-baton-packed';

/** Smaller gains are not worth putting the answer together again. */
const MOST_SHARE = 0.5;
const WORD = 4;

export interface PackedAnswer {
  /** Layout and distinct pieces, in the order in which they are sent. */
  pieces: Uint8Array[];
  layoutBytes: number;
}

/** `pieces` with each object once; null when that saves too little. */
export function packPieces(pieces: readonly Uint8Array[]): PackedAnswer | null {
  const places = new Map<Uint8Array, number>();
  let bytes = 0;
  let distinctBytes = 0;
  for (const piece of pieces) {
    bytes += piece.length;
    if (places.has(piece)) continue;
    places.set(piece, places.size);
    distinctBytes += piece.length;
  }
  const layoutBytes = (1 + places.size + pieces.length) * WORD;
  if (distinctBytes + layoutBytes > bytes * MOST_SHARE) return null;
  const distinct = [...places.keys()];
  const layout = Buffer.allocUnsafe(layoutBytes);
  let at = layout.writeUInt32LE(distinct.length);
  for (const piece of distinct) at = layout.writeUInt32LE(piece.length, at);
  for (const piece of pieces) at = layout.writeUInt32LE(places.get(piece)!, at);
  return { pieces: [layout, ...distinct], layoutBytes };
}

/**
 * The pieces of the whole answer. They share the memory of `chunks`, in which the packed one came: a piece that goes on in
 * the next chunk is two. @throws RangeError when the layout does not fit what came.
 */
export function unpackPieces(chunks: readonly Buffer[], layoutBytes: number): Uint8Array[] {
  const bytes = sum(chunks.map((chunk) => chunk.length));
  if (!(layoutBytes >= WORD && layoutBytes <= bytes && layoutBytes % WORD === 0))
    throw new RangeError('layout of a packed answer is longer than the answer');
  const take = takerOf(chunks);
  const layout = Buffer.concat(take(layoutBytes));
  const count = layout.readUInt32LE(0);
  if ((1 + count) * WORD > layoutBytes)
    throw new RangeError('layout of a packed answer is shorter than it says');
  const lengths = Array.from({ length: count }, (_, i) => layout.readUInt32LE((1 + i) * WORD));
  if (layoutBytes + sum(lengths) !== bytes)
    throw new RangeError('pieces of a packed answer are not as long as it says');
  const distinct = lengths.map(take);
  const pieces: Uint8Array[] = [];
  for (let at = (1 + count) * WORD; at < layoutBytes; at += WORD) {
    const piece = distinct[layout.readUInt32LE(at)];
    if (!piece) throw new RangeError('a packed answer names a piece that it does not have');
    pieces.push(...piece);
  }
  return pieces;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Takes so many bytes off the front of `chunks`, which must hold them. */
function takerOf(chunks: readonly Buffer[]): (bytes: number) => Buffer[] {
  let nth = 0;
  let start = 0;
  return (bytes) => {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = chunks[nth]!.subarray(start, start + left);
      parts.push(part);
      left -= part.length;
      start += part.length;
      if (start === chunks[nth]!.length) {
        nth += 1;
        start = 0;
      }
    }
    return parts;
  };
}
