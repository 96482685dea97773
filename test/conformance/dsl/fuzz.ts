import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expandInstances, type ParsedPlan, parseBlueprint, prepareDeploymentPlan } from '@baton/dsl';
import { mutateText, mutateValue } from './mutate';
import { type ParseCase, recordedResolver } from './parse-case';
import { numbers } from './plan-cases';

/**
 * Mutates recorded inputs at random and checks: no crash, no hang (2 s for one input), no unhandled rejection. Options:
 * `--seconds N` (60), `--seed N`. Prints the seed and the input of a failure and exits with 1.
 */
const SLOW_MS = 2000;

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

function load<T>(file: string): T[] {
  const shared = resolve(
    process.env.BATON_SHARED ?? join(__dirname, '../../../../shared'),
    'conformance/dsl',
  );
  return readFileSync(join(shared, file), 'utf8')
    .split('\n')
    .filter((l) => l.trim() !== '')
    .map((l) => JSON.parse(l) as T);
}

interface Stats {
  runs: number;
  parsed: number;
  prepared: number;
  slowestMs: number;
}

async function fuzzParse(random: () => number, cases: ParseCase[], stats: Stats): Promise<unknown> {
  const c = cases[Math.floor(random() * cases.length)]!;
  const text = mutateText(random, c.dsl);
  const reads = Object.fromEntries(
    Object.entries(c.reads ?? {}).map(([url, t]) => [
      url,
      typeof t === 'string' && random() < 0.2 ? mutateText(random, t) : t,
    ]),
  );
  const resolver = recordedResolver({ ...c, reads });
  const { plan } = await parseBlueprint({
    text,
    location: c.location,
    resourcesBasePath: c.resources_base_path,
    resolver,
    options: { validateVersion: random() < 0.8 },
  });
  if (plan) {
    stats.parsed++;
    const prepared = await prepareDeploymentPlan(plan, {
      random,
      inputs: {},
      findMissingSecrets: () => [],
      autoCorrectTypes: random() < 0.5,
    });
    if (prepared.plan) stats.prepared++;
  }
  return text;
}

/** Plans come from the parser, so only data from a deployment are mutated: inputs, and values in the plan. */
async function fuzzPrepare(
  random: () => number,
  cases: { args: { plan: ParsedPlan; inputs: unknown } }[],
  stats: Stats,
): Promise<unknown> {
  const { args } = cases[Math.floor(random() * cases.length)]!;
  const plan: ParsedPlan = {
    ...args.plan,
    nodes: args.plan.nodes.map((n) => ({
      ...n,
      properties: mutateValue(random, n.properties, 0.1) as typeof n.properties,
    })),
  };
  for (const key of ['outputs', 'capabilities'] as const) {
    const mutated = mutateValue(random, plan[key], 0.05);
    if (typeof mutated === 'object' && mutated !== null && !Array.isArray(mutated))
      plan[key] = mutated as never;
  }
  for (const node of plan.nodes)
    if (typeof node.properties !== 'object' || node.properties === null || Array.isArray(node.properties))
      node.properties = {};
  const inputs = mutateValue(random, args.inputs ?? {}, 0.2);
  const prepared = await prepareDeploymentPlan(plan, {
    random,
    inputs: (typeof inputs === 'object' && inputs !== null && !Array.isArray(inputs) ? inputs : {}) as never,
    findMissingSecrets: () => [],
  });
  if (prepared.plan) stats.prepared++;
  expandInstances(args.plan, [], random);
  return { plan, inputs };
}

async function main(): Promise<void> {
  const seed = option('seed', 20_261_121);
  const random = numbers(seed);
  const deadline = performance.now() + option('seconds', 60) * 1000;
  const parses = load<ParseCase>('parse.jsonl');
  const prepares = load<{ args: { plan: ParsedPlan; inputs: unknown } }>('prepare.jsonl');
  const stats: Stats = { runs: 0, parsed: 0, prepared: 0, slowestMs: 0 };
  let current: unknown = null;
  process.on('unhandledRejection', (reason) => {
    process.stdout.write(
      `unhandled rejection (seed ${seed}, run ${stats.runs}): ${String(reason)}\n${JSON.stringify(current)}\n`,
    );
    process.exit(1);
  });
  while (performance.now() < deadline) {
    const start = performance.now();
    stats.runs++;
    try {
      current =
        random() < 0.8 ? await fuzzParse(random, parses, stats) : await fuzzPrepare(random, prepares, stats);
    } catch (error) {
      process.stdout.write(
        `crash (seed ${seed}, run ${stats.runs}): ${error instanceof Error ? error.stack : String(error)}\n`,
      );
      process.exitCode = 1;
      return;
    }
    const took = performance.now() - start;
    stats.slowestMs = Math.max(stats.slowestMs, took);
    if (took > SLOW_MS) {
      process.stdout.write(
        `hang of ${Math.round(took)} ms (seed ${seed}, run ${stats.runs}): ${JSON.stringify(current).slice(0, 5000)}\n`,
      );
      process.exitCode = 1;
      return;
    }
  }
  process.stdout.write(
    `${stats.runs} runs, ${stats.parsed} parsed, ${stats.prepared} prepared, slowest ${Math.round(stats.slowestMs)} ms, seed ${seed}: no crash, no hang\n`,
  );
}

void main();
