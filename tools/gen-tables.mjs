// Writes services/*/src/store/tables.gen.ts from the migrations: creates a scratch database, runs all migrations, reads the
// schema. `--check` changes nothing and fails when a committed file differs. Needs PostgreSQL (DATABASE_URL or 127.0.0.1:5432).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { tsImport } from 'tsx/esm/api';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const serverUrl = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const require = createRequire(join(root, 'packages/postgres/package.json'));
const pg = require('pg');

const services = readdirSync(join(root, 'services'))
  .filter((name) => existsSync(join(root, 'services', name, 'migrations')))
  .filter((name) => only.length === 0 || only.includes(name))
  .map((name) => ({
    name,
    schema: name.replaceAll('-', '_'),
    dir: join(root, 'services', name, 'migrations'),
    target: join(root, 'services', name, 'src/store/tables.gen.ts'),
  }));

/** Types as parsed by packages/postgres: int8 and numeric are numbers, times are ISO texts. */
const TYPE_MAPPING = {
  timestamptz: 'string',
  timestamp: 'string',
  date: 'string',
  int8: 'number',
  numeric: 'number',
  bytea: 'Buffer',
};

function generate(url, schema, folder) {
  const file = join(folder, `${schema}.ts`);
  const args = [
    ...['--dialect', 'postgres', '--url', url, '--out-file', file, '--log-level', 'error'],
    ...[
      '--default-schema',
      schema,
      '--include-pattern',
      `${schema}.*`,
      '--exclude-pattern',
      '*.schema_migrations',
    ],
    ...['--type-mapping', JSON.stringify(TYPE_MAPPING), '--type-only-imports'],
  ];
  const run = spawnSync(process.execPath, [require.resolve('kysely-codegen/dist/cli/bin.js'), ...args], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`kysely-codegen of ${schema} failed\n${run.stdout}${run.stderr}`);
  const text = readFileSync(file, 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n+/, '');
  return `// Generated from services/${schema.replaceAll('_', '-')}/migrations by tools/gen-tables.mjs. Do not edit.\n\n${text}`;
}

async function withScratchDatabase(work) {
  const name = `baton_gen_${process.pid}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  try {
    return await work(url.href);
  } finally {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

const { runMigrations } = await tsImport('../packages/postgres/src/index.ts', import.meta.url);
const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: console.warn, error: console.error, child: () => log };
const folder = mkdtempSync(join(tmpdir(), 'gen-tables-'));
let stale = 0;
try {
  await withScratchDatabase(async (url) => {
    for (const { schema, dir, target } of services) {
      await runMigrations({ url, schema, dir, log });
      const text = generate(url, schema, folder);
      if (existsSync(target) && readFileSync(target, 'utf8') === text) continue;
      stale++;
      console.log(`${isCheck ? 'differs' : 'written'}: ${relative(root, target)}`);
      if (!isCheck) writeFileSync(target, text);
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (isCheck && stale > 0) {
  console.error('Run `node tools/gen-tables.mjs` and commit the result.');
  process.exitCode = 1;
}
