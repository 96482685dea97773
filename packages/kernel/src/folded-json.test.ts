import fc from 'fast-check';
import { foldJson, isFoldedJson, readFoldedJson, unfoldedJson } from './folded-json';
import type { JsonObject } from './json';

/** Values that share large parts, and some that look like references or hold their text. */
const tricky = fc.constantFrom<unknown>(
  { $s: 0 },
  { $s: 1, other: true },
  { $s: 'text' },
  { $s: { $s: 2 } },
  '{"$s":0}',
  'ends with {',
  '"],"value":{"',
  '\\',
  null,
  ['x'.repeat(200)],
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    tricky,
    fc.json().map((t) => JSON.parse(t) as unknown),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('any'), { maxLength: 5 }),
  map: fc.dictionary(fc.string(), tie('any'), { maxKeys: 5 }),
})).any!;

const documents = fc.tuple(value, value, fc.nat(3)).map(
  ([a, b, n]): JsonObject => ({
    one: a as never,
    list: Array.from({ length: n + 1 }, () => [a, { b: b as never, own: n }]) as never,
    again: { a: a as never, b: b as never },
  }),
);

describe('folded JSON', () => {
  it('says what was folded, as a value and as text', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const { text } = foldJson(document, 0);
        expect(isFoldedJson(text)).toBe(true);
        expect(JSON.stringify(readFoldedJson(text))).toBe(JSON.stringify(document));
        expect(unfoldedJson(text).text).toBe(JSON.stringify(document));
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps what is small as it is', () => {
    const { text } = foldJson({ a: [1, 2] }, 1000);
    expect(text).toBe('{"a":[1,2]}');
    expect(readFoldedJson(text)).toEqual({ a: [1, 2] });
    expect(unfoldedJson(text).text).toBe(text);
  });

  it('writes once what ten thousand parts share, and answers it without a text of the whole', () => {
    const operations = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `operation_${i}`,
        { inputs: {}, timeout: null, note: 'x'.repeat(50) },
      ]),
    );
    const nodes = Array.from({ length: 10_000 }, (_, i) => ({ id: `node_${i}`, operations }));
    const { text, size } = foldJson({ nodes }, 1_000_000);
    expect(size).toBeGreaterThan(30_000_000);
    expect(text.length).toBeLessThan(1_000_000);
    const read = readFoldedJson(text) as { nodes: { operations: unknown }[] };
    expect(read.nodes[9_999]).toEqual(nodes[9_999]);
    expect(read.nodes[9_999]!.operations).toBe(read.nodes[0]!.operations);
    const distinct = new Set(unfoldedJson(text).parts.filter((part) => typeof part !== 'string'));
    expect(distinct.size).toBe(1);
  });
});
