import type { Json } from '@baton/kernel';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { stringify } from 'yaml';
import { toJson } from './node';
import { readYaml } from './reader';

const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

const text = fc.string({ unit: 'grapheme-ascii', maxLength: 20 });
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.boolean(),
    fc.integer(),
    fc.constant(null),
    text,
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Json>,
    fc.dictionary(
      text.filter((k) => k !== '__proto__' && k !== '<<'),
      tie('value'),
      { maxKeys: 4 },
    ) as fc.Arbitrary<Json>,
  ),
})).value;

function read(source: string): unknown {
  const { root, error } = readYaml(null, source);
  if (error) throw new Error(`${error.message} at ${error.offset} of ${JSON.stringify(source)}`);
  return root === null ? null : toJson(root);
}

describe('print and parse round trip', () => {
  it('reads what a YAML 1.1 printer writes, in block and flow style', () => {
    fc.assert(
      fc.property(value, fc.constantFrom('any', 'flow', 'block'), (v, collectionStyle) => {
        const printed = stringify(v, { version: '1.1', collectionStyle: collectionStyle as 'any' });
        expect(read(printed)).toEqual(v);
      }),
      { numRuns: Math.ceil(1500 * EFFORT) },
    );
  });

  it('reads JSON', () => {
    fc.assert(fc.property(value, (v) => expect(read(JSON.stringify(v))).toEqual(v)));
  });

  // For "- - " with "- " on the next line the other reader finds a second item of the inner list. It belongs to the
  // outer list.
  const EMPTY_NESTED_ITEM = /- (?:&x )*- *(?:&x *)*(?:# c)?\n/;

  it('reads the item after an empty nested one as one of the outer list', () => {
    expect(read('- - \n- \n')).toEqual([[null], null]);
  });

  it('refuses or agrees with another reader on arbitrary text of quoted words', () => {
    const piece = fc.constantFrom(
      'a',
      '"b"',
      "'c'",
      ': ',
      '- ',
      '\n',
      '\n  ',
      '{',
      '}',
      '[',
      ']',
      ', ',
      '|\n  x\n',
      '&x ',
      '*x',
      '# c\n',
      '? ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        // for our reader, as for the original's, a text that ends within a block scalar has no last line break
        const source = `${pieces.join('')}\n`;
        if (EMPTY_NESTED_ITEM.test(source)) return;
        const ours = readYaml(null, source);
        let theirs: unknown;
        try {
          theirs = load(source, { json: true }) ?? null;
        } catch {
          return;
        }
        // our reader is stricter in places (complex keys, several documents); a text that it accepts gives the same
        // result
        if (ours.error === null) expect(ours.root === null ? null : toJson(ours.root)).toEqual(theirs);
      }),
      { numRuns: Math.ceil(4000 * EFFORT) },
    );
  });
});
