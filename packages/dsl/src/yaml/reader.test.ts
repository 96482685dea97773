import { childOf, toJson } from './node';
import { readYaml } from './reader';

const read = (text: string) => {
  const { root, error } = readYaml('a.yaml', text);
  if (error) throw error;
  return root === null ? null : toJson(root);
};
const stageOf = (text: string) => readYaml('a.yaml', text).error?.stage;

describe('plain scalars follow YAML 1.1', () => {
  it.each([
    ['yes', true],
    ['NO', false],
    ['on', true],
    ['~', null],
    ['', null],
    ['010', 8],
    ['0o17', '0o17'],
    ['0x1F', 31],
    ['1_000', 1000],
    ['1:30', 90],
    ['1e3', '1e3'],
    ['1.0e+3', 1000],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['"yes"', 'yes'],
    ["'010'", '010'],
    ['2020-01-01', '2020-01-01'],
    ['!!str 5', '5'],
    ['!!int "7"', 7],
    ['a: b', { a: 'b' }],
  ])('%s', (text, value) => {
    expect(read(`k: ${text.includes(': ') ? `{${text}}` : text}`)).toEqual({ k: value });
  });
});

describe('collections', () => {
  it('lets the last of equal keys win and own keys win over merged ones', () => {
    expect(read('a: 1\na: 2')).toEqual({ a: 2 });
    expect(read('x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 0}')).toMatchObject({
      z: { a: 0, b: 1, c: 2 },
    });
  });

  it('reads blocks, folded lines and nested lists', () => {
    expect(read('a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\nc:\n- - 1\n  - 2\n-\n  k: v\n')).toEqual({
      a: 'x\n y\n',
      b: 'x y\nz',
      c: [[1, 2], { k: 'v' }],
    });
    expect(read('a: |+2\n    x\n\nb: "x\\\n  y\\u0041"')).toEqual({ a: '  x\n\n', b: 'xyA' });
  });

  it('keeps __proto__ as an ordinary key', () => {
    const value = read('__proto__: {polluted: true}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('what is not YAML', () => {
  it.each([
    ['{a: 1', 'parser'],
    ['a: 1\n b: 2', 'scanner'],
    ['a:\n\t- b', 'scanner'],
    ['a: *b', 'composer'],
    ['a: &a [*a]', 'composer'],
    ['a: !!python/object:os.system x', 'composer'],
    ['? [a]\n: b', 'composer'],
    ['a: "b', 'scanner'],
    ['a\0: b', 'reader'],
    ['a: 1\n---\nb: 2', 'composer'],
  ])('%j', (text, stage) => {
    expect(stageOf(text)).toBe(stage);
  });

  it('tells places from 1', () => {
    const { error, source } = readYaml('a.yaml', 'a: 1\nb: [1,\n  2');
    expect(source.position(error!.offset)).toEqual({ line: 3, column: 4 });
    const { root } = readYaml('a.yaml', 'a:\n  b: c\n');
    const node = childOf(childOf(root!, 'a'), 'b')!;
    expect(node.source.position(node.start)).toEqual({ line: 2, column: 6 });
  });

  it('finds texts outside ASCII, in keys and in escapes too, but not in comments', () => {
    expect(readYaml(null, 'a: é # é\né: "\\u00e9"').nonAscii).toHaveLength(3);
  });
});
