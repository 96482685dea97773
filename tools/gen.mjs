// Writes all generated files: rpc code from proto/, Prisma clients, table types from the migrations, docs/generated. `--offline`
// skips steps that need PostgreSQL.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { bin, root, runSteps } from './run-steps.mjs';

const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
const steps = [
  {
    name: 'rpc code',
    command: [bin('buf'), 'generate', 'proto', '--template', 'proto/buf.gen.yaml', '-o', 'proto'],
    env: { PATH: path },
  },
  {
    name: 'rpc descriptors',
    command: [process.execPath, '--import', 'tsx', 'packages/rpc/tools/descriptors.ts'],
  },
  { name: 'prisma', command: [process.execPath, 'tools/gen-prisma.mjs'] },
  { name: 'docs', command: [process.execPath, '--import', 'tsx', 'tools/gen/docs.ts'] },
];
if (existsSync(join(root, 'packages/dsl/tools/generate.ts'))) {
  steps.push({
    name: 'dsl docs',
    command: [process.execPath, '--import', 'tsx', 'packages/dsl/tools/generate.ts'],
  });
}
if (!process.argv.includes('--offline'))
  steps.push({ name: 'tables', command: [process.execPath, 'tools/gen-tables.mjs'] });

// One after another: later steps read files that earlier steps wrote.
const isGood = await runSteps(steps, 1);
process.exit(isGood ? 0 : 1);
