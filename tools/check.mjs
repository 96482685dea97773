// Everything that needs no server: format, lint, types, import law, dead code, marks of migrations, pure tests. `--fix` repairs
// what can be repaired; `--only=types,law` runs some steps; `--fresh` forgets caches as CI does; `--full` tries every case of the
// properties.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, root, runSteps } from './run-steps.mjs';

const has = (flag) => process.argv.includes(flag);
const only = process.argv
  .find((a) => a.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const cache = join(root, '.baton');
if (has('--fresh'))
  for (const name of ['eslint', 'jest', 'tsc.tsbuildinfo'])
    rmSync(join(cache, name), { recursive: true, force: true });

// The long ones first, so that the lanes end together.
const steps = [
  {
    name: 'tests',
    command: [
      bin('jest'),
      // More than cores: some suites wait most of their time.
      '--maxWorkers=3',
      '--silent',
      // What failed, without the hundred suites that did not.
      '--reporters=summary',
      '--testPathIgnorePatterns',
      '\\.int\\.test\\.ts$',
      '/node_modules/',
      '/dist/',
      '<rootDir>/test/(e2e|fault|upgrade|sim)/',
    ],
    // A part of the random cases, the same at each run; `npm test` and `--full` try all.
    env: has('--full') ? {} : { BATON_PROP_EFFORT: process.env.BATON_PROP_EFFORT ?? '0.2' },
  },
  {
    name: 'lint',
    command: [
      bin('eslint'),
      'packages',
      'services',
      'apps',
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
  { name: 'types', command: [bin('tsc'), '-p', 'tsconfig.json', '--pretty', 'false'] },
  {
    name: 'law',
    command: [
      bin('depcruise'),
      'packages',
      'services',
      'apps',
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

const isGood = await runSteps(steps.filter((step) => !only || only.includes(step.name)));
process.exit(isGood ? 0 : 1);
