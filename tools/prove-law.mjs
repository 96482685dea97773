// Proves that the checks can fail: writes a tree with one violation of each rule and expects exactly those findings.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ESLint } from 'eslint';
import { bin, root } from './run-steps.mjs';

const long = (lines) => Array.from({ length: lines }, (_, i) => `export const n${i} = ${i};`).join('\n');
const longFunction = `export function long(): number {\n  let n = 0;\n${'  n += 1;\n'.repeat(61)}  return n;\n}`;

/** file -> [text, rule]. The rule must find the file; null: the file is correct; absent: the file is not judged. */
const imports = {
  'packages/kernel/src/index.ts': ['export const ok = 1;', null],
  'packages/kernel/src/reads-files.ts': [
    "import { readFileSync } from 'node:fs';\nexport const r = readFileSync;",
    'pure-packages-stay-pure',
  ],
  'packages/plugin-sdk/src/run/starts-programs.ts': [
    "import { spawn } from 'node:child_process';\nexport const s = spawn;",
    'pure-packages-stay-pure',
  ],
  'packages/plugin-sdk/src/tools/starts-programs.ts': [
    "import { spawn } from 'node:child_process';\nexport const s = spawn;",
    null,
  ],
  'packages/contracts/src/index.ts': ["export { ok } from '../../kernel/src/index';", null],
  'packages/task-graph/src/knows-words.ts': [
    "export { ok } from '../../contracts/src/index';",
    'task-graph-imports',
  ],
  'packages/postgres/src/index.ts': ["export { ok } from '../../kernel/src/index';", null],
  'packages/testkit/src/index.ts': ['export const t = 1;', null],
  'packages/http/src/index.ts': ['export const h = 1;', null],
  'packages/http/src/knows-sql.ts': ["export { ok } from '../../postgres/src/index';", 'http-imports'],
  'packages/http/src/hidden.ts': ['export const hidden = 1;', null],
  'packages/cache/src/one.ts': ["import { two } from './two';\nexport const one = () => two;", 'no-cycle'],
  'packages/cache/src/two.ts': ["import { one } from './one';\nexport const two = () => one;"], // reported once, at the other end
  'packages/rpc/src/knows-service.ts': [
    "export { s } from '../../../services/catalog/src/service';",
    'packages-below-services',
  ],
  'services/catalog/src/service.ts': [
    "export { h } from '../../../packages/http/src/index';\nexport const s = 1;",
    null,
  ],
  'services/catalog/src/hidden.ts': ['export const hidden = 1;', null],
  'services/catalog/src/store/model.ts': ['export const model = 1;', null],
  'services/catalog/src/commands/knows-model.ts': [
    "export { model } from '../store/model';",
    'prisma-only-in-store',
  ],
  'services/catalog/src/store/rows.sql.ts': ['export const rows = 1;\nexport type Row = 1;', null],
  'services/catalog/node_modules/kysely/index.js': ['exports.sql = 1;'],
  'services/catalog/src/store/says-sql.ts': ["export { sql } from 'kysely';", null],
  'services/catalog/src/http/knows-store.ts': [
    "export { rows } from '../store/rows.sql';",
    'edges-without-store',
  ],
  'services/catalog/src/http/knows-rows.ts': [
    "import type { Row } from '../store/rows.sql';\nexport const row: Row = 1;",
    null,
  ],
  'services/catalog/src/loops/knows-sql.ts': ["export { sql } from 'kysely';", 'sql-only-in-store'],
  'services/catalog/src/commands/knows-sql.ts': ["export { sql } from 'kysely';", 'commands-without-kysely'],
  'services/executions/src/engine/steps/graph-memory.ts': [
    'export type Graph = 1;\nexport const graphs = 1;',
    null,
  ],
  'services/executions/src/engine/commands/takes-steps.ts': [
    "export { graphs } from '../steps/graph-memory';",
    null,
  ],
  'services/executions/src/engine/domain/knows-memory.ts': [
    "export { graphs } from '../steps/graph-memory';",
    'domain-is-pure',
  ],
  'services/executions/src/groups/commands/sees-graphs.ts': [
    "import type { Graph } from '../../engine/steps/graph-memory';\nexport const graph: Graph = 1;",
    'only-engine-sees-graphs',
  ],
  'services/executions/src/schedules/store/schedules.sql.ts': ['export const due = 1;', null],
  'services/executions/src/schedules/commands/fires.ts': [
    "export { due } from '../store/schedules.sql';",
    null,
  ],
  'services/executions/src/executions/commands/knows-statements.ts': [
    "export { due } from '../../schedules/store/schedules.sql';",
    'own-store',
  ],
  'services/executions/src/events/commands/knows-schedules.ts': [
    "export { due } from '../../schedules/commands/fires';",
    'room-events',
  ],
  'services/catalog/src/domain/knows-store.ts': [
    "export { rows } from '../store/rows.sql';",
    'domain-is-pure',
  ],
  'services/catalog/src/digs.ts': [
    "export { hidden } from '../../../packages/http/src/hidden';",
    'no-deep-imports',
  ],
  'services/catalog/src/cheats.ts': [
    "export { t } from '../../../packages/testkit/src/index';",
    'testkit-in-tests-only',
  ],
  'services/catalog/src/tested.test.ts': ["export { t } from '../../../packages/testkit/src/index';", null],
  'services/identity/src/knows-catalog.ts': [
    "export { s } from '../../catalog/src/service';",
    'no-service-to-service',
  ],
  'services/gateway/src/knows-sql.ts': [
    "export { ok } from '../../../packages/postgres/src/index';",
    'no-database-in-gateway-and-worker',
  ],
  'services/worker/src/lost.ts': ["export { gone } from './gone';", 'not-resolvable'],
  'apps/cli/src/composes.ts': [
    "export { s } from '../../../services/catalog/src/service';",
    'only-standalone-composes',
  ],
  'apps/cli/src/knows-http.ts': ["export { h } from '../../../packages/http/src/index';", 'apps-speak-http'],
  'apps/console/src/reads-files.ts': [
    "import { readFileSync } from 'node:fs';\nexport const r = readFileSync;",
    'console-runs-in-browsers',
  ],
  'apps/standalone/src/digs.ts': [
    "export { hidden } from '../../../services/catalog/src/hidden';",
    'standalone-through-service-ts',
  ],
  'apps/standalone/src/composes.ts': ["export { s } from '../../../services/catalog/src/service';", null],
};

const texts = {
  'packages/broker/src/floats.ts': [
    'async function work(): Promise<void> {}\nexport function start(): void {\n  work();\n}',
    'typescript(no-floating-promises)',
  ],
  'packages/broker/src/misuses.ts': [
    'const isReady = async (): Promise<boolean> => true;\nexport const n = isReady() ? 1 : 2;',
    'typescript(no-misused-promises)',
  ],
  'packages/broker/src/clock.ts': ['export const now = Date.now();', 'no-restricted-syntax'],
  'packages/broker/src/today.ts': ['export const now = new Date();', 'no-restricted-syntax'],
  'packages/broker/src/parsed.ts': ['export const then = new Date(5);', null],
  'packages/broker/src/env.ts': ['export const home = process.env.HOME;', 'no-restricted-syntax'],
  'packages/broker/src/config.ts': ['export const home = process.env.HOME;', null],
  'packages/broker/src/barrel.ts': ["export * from './parsed';", 'no-restricted-syntax'],
  'packages/broker/src/spaces.ts': ["export * as parsed from './parsed';", null],
  'packages/broker/src/compares-wires.ts': [
    "export const isOriginal = (wire: string): boolean => wire === 'cloudify';",
    'no-restricted-syntax',
  ],
  'packages/broker/src/switches-wires.ts': [
    "export function f(wire: string): number {\n  switch (wire) {\n    case 'spec':\n      return 1;\n  }\n  return 2;\n}",
    'no-restricted-syntax',
  ],
  'packages/broker/src/names-wires.ts': ["export type Wire = 'spec' | 'cloudify';", 'no-restricted-syntax'],
  'packages/broker/src/reads-wire.ts': [
    'export const wireOf = (config: { BATON_WIRE: string }) => config.BATON_WIRE;',
    'no-restricted-syntax',
  ],
  'packages/broker/src/other-kinds.ts': [
    "export type Provider = 'local' | 'cloudify';\nexport const hasSpec = (o: object): boolean => 'spec' in o;",
    null,
  ],
  'packages/broker/src/compares-wires.test.ts': [
    "export const isOriginal = (wire: string): boolean => wire === 'cloudify';",
    null,
  ],
  'packages/broker/src/sleeps.test.ts': [
    'export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));',
    'no-restricted-syntax',
  ],
  'packages/broker/src/sleeps-by-arrow.test.ts': [
    'export const later = new Promise((resolve) => setTimeout(() => resolve(1), 5));',
    'no-restricted-syntax',
  ],
  'packages/broker/src/sleeps-by-node.test.ts': [
    "import { setTimeout as pause } from 'node:timers/promises';\nexport const p = pause(5);",
    'no-restricted-syntax',
  ],
  'packages/broker/src/limits.test.ts': [
    'export const limit = (end: () => void) => setTimeout(() => end(), 5_000);',
    null,
  ],
  'packages/broker/src/compares.ts': [
    "export const seen = (table: string) => `select 1 from ${table} where visibility = 'global'`;",
    'no-restricted-syntax',
  ],
  'packages/broker/src/compares-value.ts': [
    'export const seen = (v: string) => `select 1 from t where a and t.visibility <> ${v}`;',
    'no-restricted-syntax',
  ],
  'packages/broker/src/compares-in-text.ts': [
    "export const seen = \"select 1 where visibility in ('tenant', 'global')\";",
    'no-restricted-syntax',
  ],
  'packages/broker/src/compares-by-call.ts': [
    "export const seen = (q: { where(...a: string[]): void }) => q.where('b.visibility', '=', 'global');",
    'no-restricted-syntax',
  ],
  'packages/broker/src/assigns.ts': [
    'export const set = (v: string) => `update t set name = 1, visibility = ${v}, other = coalesce(${v}, visibility)`;',
    null,
  ],
  'packages/postgres/src/visibility-sql.ts': [
    'export const isGlobal = () => "visibility = \'global\'";',
    null,
  ],
  'packages/broker/src/long.ts': [long(401), 'max-lines'],
  'packages/broker/src/long-function.ts': [longFunction, 'max-lines-per-function'],
};

function writeTree(dir, files) {
  for (const [file, [text]] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), `${text}\n`);
  }
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, target: 'es2022', module: 'commonjs', types: ['node'] },
      include: ['**/*.ts'],
    }),
  );
}

/** Compares the expected with the actual findings of each file. */
function differences(files, foundIn) {
  return Object.entries(files).flatMap(([file, [, rule]]) => {
    const found = foundIn(file);
    if (rule === undefined) return [];
    if (rule === null)
      return found.length === 0 ? [] : [`${file} is fine but was refused: ${found.join(', ')}`];
    return found.includes(rule)
      ? []
      : [`${file} breaks ${rule} but that was not found (${found.join(', ') || 'nothing'})`];
  });
}

function proveImports() {
  const dir = mkdtempSync(join(tmpdir(), 'law-'));
  try {
    writeTree(dir, imports);
    const cruise = (type) =>
      spawnSync(
        bin('depcruise'),
        [
          'packages',
          'services',
          'apps',
          '--config',
          join(root, '.dependency-cruiser.cjs'),
          '--output-type',
          type,
        ],
        {
          cwd: dir,
          encoding: 'utf8',
          maxBuffer: 1 << 26,
        },
      );
    // The exit code of the readable report is the one that counts in the check.
    if (cruise('err').status === 0) return ['the command answers success although laws are broken'];
    const { violations } = JSON.parse(cruise('json').stdout).summary;
    return differences(imports, (file) => violations.filter((v) => v.from === file).map((v) => v.rule.name));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function proveTexts() {
  const dir = mkdtempSync(join(tmpdir(), 'lint-'));
  try {
    writeTree(dir, texts);
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'), 'junction');
    const eslint = new ESLint({ cwd: dir, overrideConfigFile: join(root, 'eslint.config.mjs') });
    const results = await eslint.lintFiles(['packages']);
    const promises = lintPromises(dir);
    return differences(texts, (file) => {
      const result = results.find((r) => r.filePath.endsWith(file));
      return [
        ...(result?.messages ?? []).map((m) => m.ruleId ?? m.message),
        ...promises.filter(({ filename }) => filename === file).map(({ code }) => code),
      ];
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function lintPromises(dir) {
  const args = ['-c', join(root, '.oxlintrc.json'), '--format', 'json', 'packages'];
  const { status, stdout } = spawnSync(bin('oxlint'), args, { cwd: dir, encoding: 'utf8' });
  if (status !== 1) throw new Error(`oxlint ended with ${status} although promises float: ${stdout}`);
  return JSON.parse(stdout).diagnostics;
}

const problems = [...proveImports(), ...(await proveTexts())];
for (const problem of problems) console.log(problem);
console.log(
  problems.length === 0
    ? `${Object.keys(imports).length + Object.keys(texts).length} files judged as they should be`
    : `${problems.length} wrong judgements`,
);
process.exit(problems.length === 0 ? 0 : 1);
