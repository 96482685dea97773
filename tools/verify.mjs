// Regenerates all generated files and fails when one changes; proves that the checks can fail; lints the protos; checks that
// paths in documents exist.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bin, root, runSteps } from './run-steps.mjs';

const generated = [
  'packages/contracts/src/gen',
  'packages/rpc/src/descriptors.gen.ts',
  'docs/generated',
  'deploy/rabbitmq',
  'packages/client/src/operations.gen.ts',
  'docs/dsl.md',
  'docs/spec-coverage.md',
  'test/contract/spec-rows.json',
  ':(glob)services/*/src/store/*.gen.ts',
  ':(glob)services/*/src/gen/**',
  'packages/postgres/test-prisma/gen',
  ':(glob)services/*/README.md',
];

/** Returns content digests of all generated files, committed or not. */
function digests() {
  const list = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z', '--', ...generated], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = list.stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  return new Map(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex'),
    ]),
  );
}

/** Historical records: they name files of their time. */
const records = /(^|\/)(CHANGELOG|BENCHMARKS|reliability-found)\.md$|^docs\/adr\/|^docs\/generated\//;

/** Returns paths in backticks that begin with one of our folders, or with src/, and contain no placeholder. */
function pathsIn(text) {
  const named = [
    ...text.matchAll(
      /`((?:services|packages|apps|proto|tools|test|bench|docs|deploy|k8s|examples|src)\/[^`\s]*)`/g,
    ),
  ].map((m) => m[1]);
  return [...new Set(named)]
    .map((path) => path.replace(/[#:].*$/, '').replace(/\/$/, ''))
    .filter((path) => !/[*<>{},…]|\.\.\./.test(path));
}

/** Returns `document: path` for each missing path. src/ belongs to the package or service of the README. */
function missingPaths() {
  const list = spawnSync('git', ['ls-files', '-z', '--', '*.md'], { cwd: root, encoding: 'utf8' });
  const documents = list.stdout.split('\0').filter((file) => file !== '' && !records.test(file));
  return documents.flatMap((file) => {
    const owner = existsSync(join(root, dirname(file), 'src')) ? dirname(file) : null;
    return pathsIn(readFileSync(join(root, file), 'utf8'))
      .filter((path) => owner !== null || !path.startsWith('src/'))
      .map((path) => (path.startsWith('src/') ? join(owner, path) : path))
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`);
  });
}

const before = digests();
let isGood = await runSteps(
  [
    { name: 'generate', command: [process.execPath, 'tools/gen.mjs', ...process.argv.slice(2)] },
    { name: 'sbom', command: [process.execPath, 'tools/sbom.mjs'] },
    { name: 'law', command: [process.execPath, 'tools/prove-law.mjs'] },
    { name: 'buf lint', command: [bin('buf'), 'lint', 'proto'] },
  ],
  1,
);
const after = digests();
const stale = [...new Set([...before.keys(), ...after.keys()])].filter(
  (file) => before.get(file) !== after.get(file),
);
if (stale.length > 0) {
  isGood = false;
  console.log(`FAILED generated files were not up to date; commit them:\n${stale.join('\n')}`);
}
const missing = missingPaths();
if (missing.length > 0) {
  isGood = false;
  console.log(`FAILED documents name paths that do not exist:\n${missing.join('\n')}`);
}
process.exit(isGood ? 0 : 1);
