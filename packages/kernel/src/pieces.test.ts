import { inPieces, jsonListInPieces, PIECE, type Pieces, whole } from './pieces';

test.each([0, 1, PIECE, PIECE + 1, 3 * PIECE])('a list of %d is the text that JSON makes of it', (length) => {
  const list = Array.from({ length }, (_, i) => ({ i, text: `"${i}`, left: undefined }));
  expect(whole(jsonListInPieces(list))).toBe(JSON.stringify(list));
});

/** Blocks the event loop for `ms` per piece, and records each piece. */
function* busy(ms: number, pieces: number, seen: string[]): Pieces<string> {
  for (let i = 0; i < pieces; i++) {
    const until = performance.now() + ms;
    while (performance.now() < until);
    seen.push('piece');
    yield;
  }
  return 'done';
}

test('others come in between long pieces', async () => {
  const seen: string[] = [];
  const work = inPieces(busy(12, 3, seen));
  setImmediate(() => seen.push('other'));
  expect(await work).toBe('done');
  expect(seen.indexOf('other')).toBeGreaterThan(0);
  expect(seen.indexOf('other')).toBeLessThan(seen.length - 1);
});

test('short work is done at once', async () => {
  const seen: string[] = [];
  const work = inPieces(busy(0, 3, seen));
  expect(seen).toHaveLength(3);
  expect(await work).toBe('done');
});

test('what fails in a piece fails as a whole', async () => {
  function* failing(): Pieces<never> {
    yield;
    throw new RangeError('too large');
  }
  await expect(inPieces(failing())).rejects.toThrow('too large');
  expect(() => whole(failing())).toThrow('too large');
});
