// Writes the Prisma clients (gen/ folders named in the schemas) from services/*/prisma/schema.prisma. Works offline: `generate`
// does not use the schema engine, which the program would download from its vendor, so any executable file can stand in for it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root } from './run-steps.mjs';

/** Files for browsers, which our code does not import. */
const UNUSED = ['browser.ts', 'internal/prismaNamespaceBrowser.ts'];

/** All schema.prisma files: of services, and the one for the tests of packages/postgres. */
const schemas = [
  ...readdirSync(join(root, 'services')).map((name) => join(root, 'services', name, 'prisma/schema.prisma')),
  join(root, 'packages/postgres/test-prisma/schema.prisma'),
].filter(existsSync);

for (const schema of schemas) {
  const output = /^\s*output\s*=\s*"([^"]+)"/m.exec(readFileSync(schema, 'utf8'))?.[1];
  if (!output) throw new Error(`${schema} does not say where its client goes`);
  const folder = resolve(dirname(schema), output);
  rmSync(folder, { recursive: true, force: true });
  const program = join(root, 'tools/prisma-generate.cjs');
  const run = spawnSync(process.execPath, [program, 'generate', '--no-hints', `--schema=${schema}`], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  });
  if (run.status !== 0) throw new Error(`prisma generate of ${schema} failed\n${run.stdout}${run.stderr}`);
  for (const name of UNUSED) rmSync(join(folder, name), { force: true });
}
