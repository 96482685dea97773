import { spawnSync } from 'node:child_process';
import { exactJson } from '../value';
import { unpickle } from './unpickle';

const read = (bytes: Buffer) => unpickle(bytes, { file: 'pg_data' }, { maxDepth: 200, maxObjects: 100_000 });

/** Runs Python, which prints one base64 text a line. */
function python(program: string): Buffer[] {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'base64'));
}

const VALUE = `{
  'none': None, 'yes': True, 'no': False, 'ints': [0, 1, -1, 255, 256, 65536, -2**31, 2**40, 2**53 - 1, -(2**53 - 1)],
  'floats': [0.5, -1e300, 5e-324], 'text': 'Zürich \\u2603 \\U0001f600 \\n "\\\\', 'empty': ['', [], {}, ()],
  'nested': {'a': [{'b': ('c', ['d'])}]}, 'long': 'x' * 100000, 'many': list(range(2000)), '__proto__': {'x': 1},
}`;

describe('what Python writes', () => {
  test.each([0, 1, 2, 3, 4, 5])('protocol %i gives the value of json.dumps', (protocol) => {
    const [pickled, json] = python(`
import pickle, json, base64
shared = ['shared']
value = ${VALUE}
value['shared'] = [shared, shared]
print(base64.b64encode(pickle.dumps(value, ${protocol})).decode())
print(base64.b64encode(json.dumps(value).encode()).decode())`);
    const { value, notes } = read(pickled!);
    expect(value).toEqual(JSON.parse(json!.toString()));
    expect(notes).toEqual([]);
  });

  test('subclasses of dict and list are what they hold', () => {
    const pickles = python(`
import sys, types, pickle, base64, collections
module = types.ModuleType('dsl_parser.models'); sys.modules['dsl_parser'] = types.ModuleType('dsl_parser'); sys.modules['dsl_parser.models'] = module
class Plan(dict): pass
Plan.__module__ = 'dsl_parser.models'; module.Plan = Plan; Plan.__qualname__ = 'Plan'
plan = Plan(nodes=[1]); plan.attribute = 'left out'
for protocol in (0, 1, 2, 4):
  for value in (plan, collections.OrderedDict([('nodes', [1])]), collections.defaultdict(list, nodes=[1])):
    print(base64.b64encode(pickle.dumps(value, protocol)).decode())`);
    expect(pickles).toHaveLength(12);
    for (const pickled of pickles) expect(read(pickled).value).toEqual({ nodes: [1] });
    expect(read(pickles[0]!).notes).toEqual([expect.objectContaining({ code: 'lossy-source' })]);
  });

  test('keeps big integers, and notes what JSON cannot hold', () => {
    const [pickled] = python(`
import pickle, base64, datetime
print(base64.b64encode(pickle.dumps({'big': 2**64 + 1, 'nan': float('nan'), 'set': {1}, 3: 'x', 'bytes': b'abc', 'day': datetime.datetime(2021, 3, 4, 5, 6, 7, 8)}, 2)).decode())`);
    const { value, notes } = read(pickled!);
    expect(exactJson(value)).toContain('18446744073709551617');
    expect(value).toMatchObject({
      big: 2n ** 64n + 1n,
      3: 'x',
      bytes: 'abc',
      set: [1],
      day: '2021-03-04T05:06:07.000008',
    });
    expect(notes.map(({ code, path }) => [code, path])).toEqual([
      ['big-integer', 'big'],
      ['not-a-number', 'nan'],
      ['set-as-list', 'set'],
      ['key-as-text', ''],
      ['date-as-text', 'day'],
    ]);
  });
});
