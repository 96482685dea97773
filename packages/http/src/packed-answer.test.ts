import { packPieces, unpackPieces } from './packed-answer';

const unique = (i: number): Uint8Array => Buffer.from(`record ${i},`);
const shared = Buffer.alloc(5_000, 'é');
const list = Array.from({ length: 20 }, (_, i) => [unique(i), shared]).flat();

test('what repeats is sent once, and stands in its places again afterwards', () => {
  const { pieces, layoutBytes } = packPieces(list)!;
  const sent = Buffer.concat(pieces);
  expect(sent.length).toBeLessThan(6_000);
  expect(Buffer.concat(unpackPieces([sent], layoutBytes))).toEqual(Buffer.concat(list));
});

test.each([1, 3, 100, 4_096])('it may come in chunks of %i bytes', (size) => {
  const { pieces, layoutBytes } = packPieces(list)!;
  const sent = Buffer.concat(pieces);
  const chunks = Array.from({ length: Math.ceil(sent.length / size) }, (_, i) =>
    sent.subarray(i * size, (i + 1) * size),
  );
  expect(Buffer.concat(unpackPieces(chunks, layoutBytes))).toEqual(Buffer.concat(list));
});

test('the bytes of the pieces are those that came', () => {
  const { pieces, layoutBytes } = packPieces(list)!;
  const sent = Buffer.from(Buffer.concat(pieces));
  const chunks = [sent.subarray(0, 2_000), sent.subarray(2_000)];
  for (const piece of unpackPieces(chunks, layoutBytes)) expect(piece.buffer).toBe(sent.buffer);
});

test('an answer in which little repeats stays as it is', () => {
  expect(packPieces([unique(1), shared])).toBeNull();
  expect(packPieces([shared, shared, Buffer.alloc(20_000)])).toBeNull();
});

test.each([
  ['cut off', (sent: Buffer, layoutBytes: number) => [sent.subarray(0, -1), layoutBytes]],
  ['longer than it says', (sent: Buffer, layoutBytes: number) => [Buffer.concat([sent, sent]), layoutBytes]],
  ['shorter than its layout', (sent: Buffer) => [sent, sent.length + 4]],
  ['empty', () => [Buffer.alloc(0), 0]],
  [
    'naming a piece that is not there',
    (sent: Buffer, layoutBytes: number) => {
      const damaged = Buffer.from(sent);
      damaged.writeUInt32LE(1_000, layoutBytes - 4);
      return [damaged, layoutBytes];
    },
  ],
] as [string, (sent: Buffer, layoutBytes: number) => [Buffer, number]][])(
  'a packed answer that is %s is refused',
  (_, damage) => {
    const { pieces, layoutBytes } = packPieces(list)!;
    const [sent, bytes] = damage(Buffer.concat(pieces), layoutBytes);
    expect(() => unpackPieces([sent], bytes)).toThrow(RangeError);
  },
);
