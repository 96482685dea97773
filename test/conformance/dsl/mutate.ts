type Random = () => number;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

/** Snippets of YAML and of the DSL that often cause trouble. */
const SNIPPETS = [
  ':',
  '- ',
  '? ',
  '&a ',
  '*a',
  '<<: *a',
  '{',
  '}',
  '[',
  ']',
  '|',
  '>',
  '|+2',
  "'",
  '"',
  '#',
  '\t',
  '\r\n',
  '---',
  '...',
  '%YAML 1.1',
  '!!str ',
  '!!binary ',
  '!!python/object:os.system ',
  'null',
  '~',
  'true',
  '010',
  '1:30',
  '0x1F',
  '1e3',
  '.inf',
  '2020-01-01',
  'é',
  '\u0000',
  '\ufeff',
  '__proto__',
  'constructor',
  'toString',
  '{get_input: a}',
  '{get_property: [SELF, a]}',
  '{get_attribute: [TARGET, a]}',
  '{concat: [a, {get_secret: s}]}',
  '{get_input: {get_input: {get_input: a}}}',
  'imports: [a]',
  'type: cloudify.nodes.Root',
  'derived_from: b',
  'UNBOUNDED',
  '-1',
  '99999999999999999999',
  'cloudify_dsl_1_0',
  'cloudify_dsl_1_5',
  'node_templates:',
  'ns--',
  '--',
  'plugin:x?version= >=1',
  'blueprint:x',
  'constraints: [{pattern: "(a+)+$"}]',
  'required: false',
  'default: {}',
  'members: [a]',
];

function mutateOnce(random: Random, text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const lines = text.split('\n');
  const line = Math.floor(random() * lines.length);
  switch (Math.floor(random() * 9)) {
    case 0:
      return text.slice(0, at) + pick(random, SNIPPETS) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 12));
    case 2:
      lines.splice(line, 1);
      return lines.join('\n');
    case 3:
      lines.splice(line, 0, lines[Math.floor(random() * lines.length)]!);
      return lines.join('\n');
    case 4:
      lines[line] = ' '.repeat(Math.floor(random() * 4)) + lines[line]!;
      return lines.join('\n');
    case 5:
      lines[line] = lines[line]!.replace(/^ {1,2}/, '');
      return lines.join('\n');
    case 6:
      lines[line] = lines[line]!.replace(/:.*/, `: ${pick(random, SNIPPETS)}`);
      return lines.join('\n');
    case 7:
      return text.slice(0, at);
    default: {
      const words = text.match(/[\w.]+/g) ?? ['a'];
      return text.slice(0, at) + pick(random, words) + text.slice(at + Math.floor(random() * 8));
    }
  }
}

/** Returns the text with one to five random changes. */
export function mutateText(random: Random, text: string): string {
  let result = text;
  for (let n = 1 + Math.floor(random() * 5); n > 0; n--) result = mutateOnce(random, result);
  return result;
}

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  '',
  'a',
  [],
  {},
  'SELF',
  { get_input: 'a' },
  { get_property: ['SELF', 'a'] },
  { get_attribute: ['a', 'b'] },
  { concat: ['a', { get_input: 'b' }] },
  { get_capability: ['d', 'c'] },
  { get_secret: ['s', 'k'] },
  { merge: [{}, {}] },
  { string_split: ['a,b', ',', 5] },
];

/** Returns a plain value with some random parts replaced, removed or repeated. */
export function mutateValue(random: Random, value: unknown, chance: number): unknown {
  if (random() < chance) return pick(random, VALUES);
  if (Array.isArray(value)) {
    const items = value.map((v) => mutateValue(random, v, chance));
    if (random() < chance) items.splice(Math.floor(random() * items.length), 1);
    if (random() < chance && items.length > 0) items.push(pick(random, items));
    return items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, v]) => [key, mutateValue(random, v, chance)] as const);
  return Object.fromEntries(entries.filter(() => random() >= chance / 4));
}
