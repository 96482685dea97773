import { ArchiveRefused } from '../archive-refused';
import { unpickle } from './unpickle';

const PLACE = { file: 'pg_data', table: 'nodes', line: 7, field: 'properties' };
const LIMITS = { maxDepth: 200, maxObjects: 100_000 };
const read = (bytes: Buffer) => unpickle(bytes, PLACE, LIMITS);
const refusal = (bytes: Buffer): string => {
  try {
    read(bytes);
  } catch (error) {
    if (error instanceof ArchiveRefused) return error.message;
    throw error;
  }
  return 'not refused';
};

describe('texts of Python 2', () => {
  test('byte strings are UTF-8', () => {
    // {'name': 'Zürich'} as Python 2.7 writes it with protocol 2, and with protocol 0.
    expect(
      read(Buffer.from('\x80\x02}q\x00U\x04nameq\x01U\x07Z\xc3\xbcrichq\x02s.', 'latin1')).value,
    ).toEqual({ name: 'Zürich' });
    expect(read(Buffer.from("(dp0\nS'name'\np1\nS'Z\\xc3\\xbcrich'\np2\ns.", 'latin1')).value).toEqual({
      name: 'Zürich',
    });
    expect(
      read(Buffer.from('(dp0\nVname\np1\nVZ\\u00fcrich\np2\nsVbig\nL18446744073709551617L\ns.', 'latin1'))
        .value,
    ).toEqual({
      name: 'Zürich',
      big: 18446744073709551617n,
    });
  });

  test('others are refused with their place', () => {
    expect(refusal(Buffer.from('\x80\x02}U\x04nameU\x02\xff\xfes.', 'latin1'))).toBe(
      'pg_data, table nodes, line 7, properties: the pickle is refused: a byte string is no UTF-8 (at name)',
    );
  });
});

describe('hostile pickles', () => {
  test.each([
    ['a function', "cposix\nsystem\n(S'id'\ntR.", 'the class posix.system is not allowed in a pickle'],
    [
      'a function by the stack',
      '\x80\x04\x8c\x05posix\x8c\x06system\x93.',
      'the class posix.system is not allowed in a pickle',
    ],
    ['eval', "c__builtin__\neval\n(S'1'\ntR.", 'the class builtins.eval is not allowed in a pickle'],
    ['getattr', 'c__builtin__\ngetattr\n.', 'the class builtins.getattr is not allowed in a pickle'],
    ['an old instance', '(i__main__\nX\n.', 'the operation 0x69 is not allowed'],
    ['a persistent id', 'P1\n.', 'the operation 0x50 is not allowed'],
    ['an extension', '\x82\x01.', 'the operation 0x82 is not allowed'],
    ['a class as value', 'c__builtin__\nobject\n.', 'it holds the class builtins.object itself'],
    [
      'a call of object',
      'c__builtin__\nobject\n)R.',
      'a call of builtins.object with these arguments is not allowed in a pickle',
    ],
    [
      'a codec',
      '\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00rot\x86R.',
      'a call of _codecs.encode',
    ],
    ['an empty stack', '.', 'its stack is empty'],
    ['no end', '(lp0\n', 'it ends too early'],
    ['a length beyond the end', 'X\xff\xff\xff\x7fa.', 'it ends too early'],
    ['a negative length', 'T\xff\xff\xff\xff.', 'it ends too early'],
    ['a value that contains itself', '(lp0\ng0\na.', 'it contains itself'],
    ['a new protocol', '\x80\x09N.', 'its protocol 9 is not known'],
    ['a long number', `I${'9'.repeat(5000)}\n.`, 'a whole number cannot be read'],
    ['depth', `${'('.repeat(300)}${'l'.repeat(300)}.`, 'it is nested deeper than 200'],
  ])('%s', (_what, pickled, expected) => {
    expect(refusal(Buffer.from(pickled, 'latin1'))).toContain(expected);
  });

  test('a value that doubles with every level is refused before it is built', () => {
    // Each list holds the one before it twice: 2^40 objects as written out.
    const levels = Array.from(
      { length: 40 },
      (_, i) => `(h${String.fromCharCode(i)}h${String.fromCharCode(i)}lq${String.fromCharCode(i + 1)}`,
    );
    expect(refusal(Buffer.from(`(lq\x00${levels.join('')}.`, 'latin1'))).toContain(
      'it holds more than 100000 objects',
    );
  });

  test('a value that grows deep by sharing is refused', () => {
    // [a0, a1, a2, ...] where each is a list of the one before: no part is deep where it is made.
    const links = Array.from(
      { length: 240 },
      (_, i) => `(h${String.fromCharCode(i)}lq${String.fromCharCode(i + 1)}`,
    );
    expect(refusal(Buffer.from(`((lq\x00${links.join('')}l.`, 'latin1'))).toContain(
      'it is nested deeper than 200',
    );
  });

  test('calls cannot copy one long list again and again', () => {
    const list = `(${'N'.repeat(50_000)}lq\x00`;
    const calls = 'c__builtin__\nset\n(h\x00tR'.repeat(1000);
    expect(refusal(Buffer.from(`${list}${calls}.`, 'latin1'))).toContain('its calls take too much work');
  });

  test('a text cannot be written out again and again', () => {
    const text = `X\x00\x00\x10\x00${'x'.repeat(2 ** 20)}q\x00`;
    expect(refusal(Buffer.from(`(${text}${'h\x00'.repeat(10_000)}l.`, 'latin1'))).toContain(
      'it holds more than 100000 objects',
    );
  });
});
