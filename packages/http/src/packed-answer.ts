/**
 * Packed answers between a service and the gateway: pieces that occur repeatedly in an answer are sent once. In a list of 50
 * deployments of one blueprint, nine tenths of the bytes are workflows that all of them share. The gateway requests packing by this
 * header. A packed answer has the header too, with the number of bytes of its layout: first the layout, then the distinct pieces.
 */
export const packedHeader = 'x-baton-packed';

/** Largest share of the bytes that a packed answer may have: smaller gains are not worth the unpacking. */
const MOST_SHARE = 0.5;
const WORD = 4;

export interface PackedAnswer {
  /** Layout and distinct pieces, in the order in which they are sent. */
  pieces: Uint8Array[];
  layoutBytes: number;
}

/** Packs `pieces`, each object once; null when that saves too little. */
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
 * Returns the pieces of the whole answer. They share the memory of `chunks`, in which the packed answer arrived; a piece that
 * continues in the next chunk becomes two. @throws RangeError when the layout does not fit the received bytes.
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

/** Returns a function that takes a number of bytes off the front of `chunks`, which must hold them. */
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
