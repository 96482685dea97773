// All checks that need no server: format, lint, types, import law, dead code, marks of migrations, pure tests. `--fix` repairs
// what can be repaired; `--only=types,law` runs some steps; `--fresh` ignores caches, as in CI; `--full` runs all pure tests with
// every case of the properties. Without it, the inner loop runs only tests that a change may affect, with a part of the cases.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { affectedTests, rememberPassed } from './affected-tests.mjs';
import { bin, root, runSteps } from './run-steps.mjs';

const has = (flag) => process.argv.includes(flag);
const only = process.argv
  .find((a) => a.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const cache = join(root, '.baton');
if (has('--fresh'))
  for (const name of ['eslint', 'jest', 'tsc.tsbuildinfo', 'tsc-console.tsbuildinfo', 'checked-commit'])
    rmSync(join(cache, name), { recursive: true, force: true });

const pureTests = [
  '--testPathIgnorePatterns',
  '\\.int\\.test\\.ts$',
  '/node_modules/',
  '/dist/',
  '<rootDir>/test/(e2e|fault|upgrade|sim)/',
];
const isFull = has('--full');
const isWanted = (name) => !only || only.includes(name);
const affected = isFull || !isWanted('tests') ? null : affectedTests(pureTests);
// A dependency of test/, since both compilers have a command of the name tsc.
const compiler = join(root, 'test/node_modules/typescript-native/bin/tsc');
const types = (project) => [process.execPath, compiler, '-p', project, '--pretty', 'false'];

// Long steps first, so that the lanes end together.
const steps = [
  {
    name: 'tests',
    command: [
      bin('jest'),
      // More than the number of cores: some suites wait most of their time.
      '--maxWorkers=3',
      '--silent',
      // Prints only failures, not the hundred successful suites.
      '--reporters=summary',
      ...(affected ? ['--runTestsByPath', ...affected] : pureTests),
    ],
    // Only a part of the random cases, the same in each run; `npm test` and `--full` run all.
    env: isFull ? {} : { BATON_PROP_EFFORT: process.env.BATON_PROP_EFFORT ?? '0.2' },
  },
  {
    name: 'promises',
    command: [bin('oxlint'), 'packages', 'services', 'apps', 'plugins', 'test', 'bench', '--quiet'],
  },
  {
    name: 'lint',
    command: [
      bin('eslint'),
      'packages',
      'services',
      'apps',
      'plugins',
      'test',
      'bench',
      '--no-error-on-unmatched-pattern',
      '--cache',
      '--cache-location',
      join(cache, 'eslint'),
      '--cache-strategy',
      'content',
      '--quiet',
    ],
  },
  {
    name: 'dead',
    command: [bin('knip'), '--no-progress', '--no-config-hints'],
  },
  { name: 'types', command: types('tsconfig.json') },
  { name: 'types of the console', command: types('apps/console/tsconfig.json') },
  {
    name: 'law',
    command: [
      bin('depcruise'),
      'packages',
      'services',
      'apps',
      'plugins',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
    ],
  },
  {
    name: 'migrations',
    command: [process.execPath, 'tools/lint-migrations.mjs'],
  },
  {
    name: 'format',
    command: [
      bin('biome'),
      'check',
      ...(has('--fix') ? ['--write'] : []),
      '--diagnostic-level=error',
      '--reporter=summary',
      '--max-diagnostics=none',
      '--colors=off',
    ],
  },
];

const isGood = await runSteps(steps.filter(({ name }) => isWanted(name)));
if (isGood && !only) rememberPassed();
process.exit(isGood ? 0 : 1);
