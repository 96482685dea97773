import type { Json } from '@baton/kernel';
import { type ImportResolver, parseBlueprint, prepareDeploymentPlan } from './index';

const V = 'tosca_definitions_version: cloudify_dsl_1_5\n';
const BUDGET_CPU_MS = 20_000;

const times = (count: number, make: (i: number) => string, separator = '\n'): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(separator);

/** Returns the kind of the first error of parsing or preparing; null when both succeeded. */
async function firstKind(text: string, resolver?: ImportResolver): Promise<string | null> {
  const before = process.cpuUsage();
  const { plan, diagnostics } = await parseBlueprint({ text, ...(resolver ? { resolver } : {}) });
  const prepared = plan
    ? await prepareDeploymentPlan(plan, { random: () => 0.5, findMissingSecrets: () => [] })
    : null;
  // processor time, so that a busy machine makes no difference; unbounded work would take far longer
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(BUDGET_CPU_MS);
  return (diagnostics.find((d) => d.severity === 'error') ?? prepared?.diagnostics[0])?.kind ?? null;
}

const properties = (count: number): string =>
  `node_types: {t: {properties: {${times(count, (i) => `p${i}: {}`, ', ')}}}}\n`;
const doubled = (count: number, make: (before: string) => string): string =>
  `${V}${properties(count)}node_templates:\n  n:\n    type: t\n    properties:\n      p0: x\n${times(count - 1, (i) => `      p${i + 1}: ${make(`{get_property: [SELF, p${i}]}`)}`)}\n`;

describe('hostile blueprints end with a clear error, soon', () => {
  it.each([
    [
      'alias bombs',
      `${V}dsl_definitions:\n  a0: &a0 [${'x,'.repeat(10)}x]\n${times(20, (i) => `  a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}*a${i}]`)}\n`,
      'limit_exceeded',
    ],
    ['deep brackets', `${V}metadata: ${'['.repeat(100_000)}`, 'limit_exceeded'],
    ['deep lists', `${V}metadata:\n  ${'- '.repeat(100_000)}x\n`, 'limit_exceeded'],
    ['huge scalars', `${V}description: ${'x'.repeat(3_000_000)}\n`, 'limit_exceeded'],
    [
      'long chains of types',
      `${V}node_types:\n  t0: {}\n${times(20_000, (i) => `  t${i + 1}: {derived_from: t${i}}`)}\n`,
      'limit_exceeded',
    ],
    [
      'data types that double',
      `${V}data_types:\n  d0: {properties: {x: {default: 1}}}\n${times(40, (i) => `  d${i + 1}: {properties: {x: {type: d${i}}, y: {type: d${i}}}}`)}\n`,
      'limit_exceeded',
    ],
    [
      'data types that hold themselves',
      `${V}data_types: {a: {properties: {x: {type: b}}}, b: {properties: {x: {type: a}}}, c: {derived_from: a}}\ninputs: {i: {type: a, default: {}}, j: {type: c, default: {x: {}}}}\n`,
      'cycle',
    ],
    [
      'functions that lead to each other',
      `${V}${properties(2)}node_templates: {n: {type: t, properties: {p0: {get_property: [SELF, p1]}, p1: {get_property: [SELF, p0]}}}}\n`,
      'recursion_limit',
    ],
    ['values that double', doubled(45, (before) => `[${before}, ${before}]`), 'limit_exceeded'],
    ['texts that double', doubled(45, (before) => `{concat: [${before}, ${before}]}`), 'limit_exceeded'],
    [
      'patterns that backtrack',
      `${V}inputs: {i: {default: "${'a'.repeat(5000)}!", constraints: [{pattern: '(a+)+$'}, {pattern: '(a|aa)+$'}]}}\n`,
      'constraint_violated',
    ],
    [
      'patterns by the thousand',
      `${V}inputs:\n${times(20_000, (i) => `  i${i}: {constraints: [{pattern: 'a{900}b{${i % 900}}'}]}`)}\n`,
      'limit_exceeded',
    ],
    [
      'patterns that multiply',
      `${V}inputs: {i: {default: aaaa, constraints: [{pattern: '((a{500}){500}){500}'}]}}\n`,
      'constraint_not_applicable',
    ],
    [
      'too many instances',
      `${V}node_types: {t: {}}\nnode_templates: {n: {type: t, capabilities: {scalable: {properties: {default_instances: 1000000000}}}}}\n`,
      'limit_exceeded',
    ],
    [
      'wrong names by the thousand',
      `${V}node_types:\n${times(4000, (i) => `  type_${i}: {}`)}\nnode_templates:\n${times(4000, (i) => `  n${i}: {type: typo_${i}}`)}\n`,
      'unknown_node_type',
    ],
  ])('%s', async (_name, text, kind) => {
    expect(await firstKind(text)).toBe(kind);
  });

  it('long chains of nodes are fine, and circles of them are found without recursion', async () => {
    const chain = (first: string): string => `${V}node_types: {t: {}}
relationships: {cloudify.relationships.depends_on: {properties: {connection_type: {default: all_to_all}}}}
node_templates:\n  n0: ${first}\n${times(5000, (i) => `  n${i + 1}: {type: t, relationships: [{type: cloudify.relationships.depends_on, target: n${i}}]}`)}\n`;
    expect(await firstKind(chain('{type: t}'))).toBeNull();
    expect(
      await firstKind(
        chain('{type: t, relationships: [{type: cloudify.relationships.depends_on, target: n5000}]}'),
      ),
    ).toBe('cycle');
  });

  it('imports that never end', async () => {
    let n = 0;
    const fanOut: ImportResolver = {
      read: () => `imports: [${times(50, () => `file:///f${n++}.yaml`, ', ')}]\n`,
    };
    expect(await firstKind(`${V}imports: [file:///a.yaml]\n`, fanOut)).toBe('too_many_imports');
    const nested: ImportResolver = {
      read: () => 'imports: [x--file:///a.yaml, y--file:///a.yaml]\ninputs: {i: {}}\n',
    };
    expect(await firstKind(`${V}imports: [file:///a.yaml]\n`, nested)).toBe('too_many_imports');
    const blueprints: ImportResolver = {
      read: () => null,
      blueprint: () => ({ text: `${V}imports: [a--blueprint:x, b--blueprint:x]\n` }),
    };
    expect(await firstKind(`${V}imports: [a--blueprint:x]\n`, blueprints)).toBe('too_many_imports');
  });

  it('names of the object prototype are names like any other', async () => {
    const { plan, diagnostics } = await parseBlueprint({
      text: `${V}inputs: {__proto__: {default: 1}, constructor: {}}
node_types: {toString: {properties: {__proto__: {default: {a: 1}}, hasOwnProperty: {default: {get_input: __proto__}}}}}
node_templates: {constructor: {type: toString}}
outputs: {__proto__: {value: {get_property: [constructor, hasOwnProperty]}}}
`,
    });
    expect(diagnostics.filter((d) => d.severity === 'error')).toEqual([]);
    const prepared = await prepareDeploymentPlan(plan!, {
      random: Math.random,
      inputs: { constructor: 2 } as unknown as { [key: string]: Json },
    });
    expect(Object.entries(prepared.plan!.outputs)).toEqual([['__proto__', { value: 1 }]]);
    expect(Object.keys(prepared.plan!.nodes[0]!.properties)).toEqual(['__proto__', 'hasOwnProperty']);
    const bad = await parseBlueprint({
      text: `${V}node_templates: {n: {type: constructor, valueOf: 1}}\ninputs: {i: {type: toString, constraints: [{__proto__: 1}]}}\n__proto__: {}\n`,
    });
    expect(
      bad.diagnostics
        .map((d) => d.kind)
        .filter((k) => k !== 'unused_input')
        .sort(),
    ).toEqual(['bad_constraint', 'unknown_key', 'unknown_key', 'unknown_node_type', 'unknown_type']);
  });
});
