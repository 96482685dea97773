import { readPath, writePath } from './path-dict';

describe('dotted paths', () => {
  const dict = () => ({ foo: [{ bar: 1 }, { bar: 2 }], 'a.b': 'literal', a: { c: { d: null } } });

  it('read through dictionaries and lists, nesting before a key with dots', () => {
    expect(readPath(dict(), 'foo[1].bar')).toBe(2);
    expect(readPath(dict(), 'a.b')).toBe('literal');
    expect(readPath({ ...dict(), a: { b: 'nested' } }, 'a.b')).toBe('nested');
    expect(readPath(dict(), 'a.c.d')).toBeNull();
  });

  it.each(['nope', 'foo[2]', 'foo.bar', 'a[0]', 'toString', 'a.constructor'])(
    'say which path is illegal: %s',
    (path) => {
      expect(() => readPath(dict(), path)).toThrow(`illegal path: ${path}`);
    },
  );

  it('write, making dictionaries on the way, but not through other values', () => {
    const target = dict();
    writePath(target, 'foo[1].bar', 'x');
    writePath(target, 'new.deep', 1);
    expect(target).toMatchObject({ foo: [{ bar: 1 }, { bar: 'x' }], new: { deep: 1 } });
    expect(() => writePath(target, 'foo.bar', 1)).toThrow('illegal path: foo.bar');
    expect(() => writePath(target, 'a[0]', 1)).toThrow('illegal path: a[0]');
    expect(() => writePath(target, 'foo[9]', 1)).toThrow('illegal path: foo[9]');
  });
});
