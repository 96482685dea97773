import {
  createTextCache,
  expandInstances,
  formatDiagnostics,
  parseBlueprint,
  prepareDeploymentPlan,
  type TextCache,
  withBuiltinTypes,
} from '@baton/dsl';
import * as yaml from 'js-yaml';
import { chainOfTypes, treeOfNodes } from './inputs';

/**
 * Measures parse, preparation and expansion by size, compared with a plain YAML read of the same text. Preparation includes
 * expansion, which is also measured alone. Prints JSON; times are medians in ms after warm-up.
 */
interface Measured {
  name: string;
  nodes: number;
  characters: number;
  medianMs: number;
  parseMs: number;
  prepareMs: number;
  expandMs: number;
  yamlMs: number;
  heapMb: number;
}

const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const round = (value: number): number => Math.round(value * 100) / 100;

/** Returns a text cache that shares everything except the main file. */
function withoutMain(main: string): TextCache {
  return {
    read: (name, text, limits) => (text === main ? createTextCache() : imports).read(name, text, limits),
  };
}

const imports = createTextCache();
const resolver = withBuiltinTypes({ read: () => null });

async function measure(name: string, text: string, rounds: number): Promise<Measured> {
  const parse: number[] = [];
  const prepare: number[] = [];
  const expand: number[] = [];
  const plain: number[] = [];
  const total: number[] = [];
  let nodes = 0;
  let heap = 0;
  for (let i = -Math.ceil(rounds / 2); i < rounds; i++) {
    const start = performance.now();
    const { plan, diagnostics } = await parseBlueprint({
      text,
      location: '/bp/blueprint.yaml',
      resolver,
      options: { cache: withoutMain(text) },
    });
    const parsed = performance.now();
    if (!plan) throw new Error(formatDiagnostics(diagnostics));
    const prepared = await prepareDeploymentPlan(plan, { random: Math.random });
    const end = performance.now();
    if (!prepared.plan) throw new Error(formatDiagnostics(prepared.diagnostics));
    heap = process.memoryUsage().heapUsed;
    const before = performance.now();
    expandInstances(prepared.plan, [], Math.random);
    const expanded = performance.now();
    yaml.load(text, { json: true });
    const read = performance.now();
    nodes = plan.nodes.length;
    if (i < 0) continue;
    parse.push(parsed - start);
    prepare.push(end - parsed - (expanded - before));
    total.push(end - start);
    expand.push(expanded - before);
    plain.push(read - expanded);
  }
  return {
    name,
    nodes,
    characters: text.length,
    medianMs: round(median(total)),
    parseMs: round(median(parse)),
    prepareMs: round(Math.max(0, median(prepare))),
    expandMs: round(median(expand)),
    yamlMs: round(median(plain)),
    heapMb: round(heap / 1e6),
  };
}

async function main(): Promise<void> {
  const results: Measured[] = [];
  for (const [nodes, rounds] of [
    [100, 60],
    [1000, 30],
    [10_000, 9],
  ] as const)
    results.push(await measure(`tree of ${nodes} nodes`, treeOfNodes(nodes), rounds));
  for (const [nodes, rounds] of [
    [1000, 30],
    [10_000, 9],
  ] as const)
    results.push(await measure(`tree of ${nodes} nodes, built-in types`, treeOfNodes(nodes, true), rounds));
  results.push(await measure('chain of 200 types', chainOfTypes(200), 30));
  process.stdout.write(`${JSON.stringify({ node: process.version, results }, null, 2)}\n`);
}

void main();
