import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseCase, runParseCase } from './parse-case';
import { runEvaluateCase, runInstancesCase, runModifyCase, runPrepareCase } from './plan-cases';
import { runRealCase } from './real-case';

/**
 * Runs recorded cases of the DSL. Arguments are folders (or files) with `*.jsonl`; without arguments, those of BATON_SHARED.
 * Lists failures and ends with `N passed, M failed`.
 */
type Runner = (c: never, folder: string) => Promise<string | null>;

const runners: Record<string, Runner> = {
  parse: (c: ParseCase) => runParseCase(c),
  prepare: runPrepareCase,
  instances: runInstancesCase,
  modify: runModifyCase,
  evaluate: runEvaluateCase,
  real: runRealCase,
} as unknown as Record<string, Runner>;

function casesOf(path: string): { folder: string; text: string }[] {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true })
        .map(String)
        .filter((f) => f.endsWith('.jsonl'))
        .sort()
        .map((f) => join(path, f))
    : [path];
  return files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((text) => ({ folder: resolve(file, '..'), text })),
  );
}

async function main(): Promise<void> {
  const shared = resolve(process.env.BATON_SHARED ?? join(__dirname, '../../../../shared'), 'conformance');
  const given = process.argv.slice(2).filter((a) => !a.startsWith('--'));
  const folders = given.length > 0 ? given : [join(shared, 'dsl'), join(shared, 'real')];
  const isVerbose = process.argv.includes('--verbose');
  let passed = 0;
  let failed = 0;
  for (const folder of folders) {
    if (!existsSync(folder)) {
      failed++;
      process.stdout.write(`${folder}: no such folder\n`);
      continue;
    }
    for (const { text, folder: at } of casesOf(folder)) {
      const c = JSON.parse(text) as { id: string; kind: string };
      const run = runners[c.kind];
      let problem: string | null;
      try {
        problem = run ? await run(c as never, at) : `unknown kind ${c.kind}`;
      } catch (error) {
        problem = `crash: ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 4).join(' | ') : String(error)}`;
      }
      if (problem === null) passed++;
      else {
        failed++;
        process.stdout.write(`FAIL ${c.kind} ${c.id}${isVerbose ? `\n     ${problem}` : ''}\n`);
      }
    }
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

void main();
