import { layered, valuesOfSets } from './set-values';

const set = (name: string, value: unknown) => valuesOfSets([{ name, value }], 'set_values');

describe('set_values', () => {
  it.each([
    ['a', 'x', { a: 'x' }],
    ['a.b.c', '1', { a: { b: { c: 1 } } }],
    ['a[0].b', 'true', { a: [{ b: true }] }],
    ['a[1]', 'x', { a: [undefined, 'x'] }],
    ['node\\.kubernetes\\.io/x', 'y', { 'node.kubernetes.io/x': 'y' }],
    ['a', '{x,1,true}', { a: ['x', 1, true] }],
    ['a', '{}', { a: [] }],
    ['a', 'null', { a: null }],
    ['a', '007', { a: '007' }],
    ['a', '1.5', { a: '1.5' }],
    ['a', 'x,b=y', { a: 'x,b=y' }],
    ['a', { b: [1] }, { a: { b: [1] } }],
    ['a', false, { a: false }],
  ])('%s=%j is what helm makes of it', (name, value, expected) => {
    expect(set(name, value)).toEqual(expected);
  });

  it('adds to what others have set', () => {
    const sets = [
      { name: 'a.b', value: '1' },
      { name: 'a.c[0]', value: 'x' },
      { name: 'a.c[1]', value: 'y' },
    ];
    expect(valuesOfSets(sets, 'set_values')).toEqual({ a: { b: 1, c: ['x', 'y'] } });
  });

  it.each(['', '.', '[0]', 'a[b]', 'a[999999999]', '__proto__.x', 'a.__proto__.x', 'a['])(
    '%j is refused',
    (name) => {
      expect(() => set(name, 'x')).toThrow(/is no name of a value/);
      expect(({} as { x?: unknown }).x).toBeUndefined();
    },
  );

  it.each([['x'], [{ a: 1 }], [[{ value: 1 }]]])('%j is no list of values', (given) => {
    expect(() => valuesOfSets(given, 'set_values')).toThrow('set_values: expected a list of dictionaries');
  });
});

it('lays values over each other as helm does with files', () => {
  expect(layered({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { c: [3] }, e: 2 })).toEqual({
    a: { b: 1, c: [3] },
    d: 1,
    e: 2,
  });
});
