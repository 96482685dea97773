// Selects the pure tests whose result may have changed since the last successful check of committed sources: the inner loop runs
// only those.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bin, root } from './run-steps.mjs';

const record = join(root, '.baton/checked-commit');
/** Pure tests that read files of the repository instead of importing them: they always run. */
const READ_FILES = /^test\//;
/** Sources, whose importers jest finds, and files that only tests in READ_FILES read. */
const FOLLOWED = /\.(tsx?|css|md)$|^(bench|docs|test|tools)\//;
/** Files below `test` that all tests depend on. */
const CONCERN_ALL = /(^|\/)package\.json$|^test\/harness\//;

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const lines = (text) => text.split('\n').filter((line) => line !== '');

/** Returns jest's own list of tests, as paths below the root. */
const listTests = (args) =>
  lines(execFileSync(bin('jest'), ['--listTests', ...args], { cwd: root, encoding: 'utf8' })).map((path) =>
    relative(root, path),
  );

/**
 * Returns the affected tests among those that `selection` (arguments of jest) selects; null: all of them, because no successful
 * check is known.
 */
export function affectedTests(selection) {
  if (!existsSync(record)) return null;
  const commit = readFileSync(record, 'utf8').trim();
  try {
    const changed = lines(git('diff', '--name-only', commit)).concat(
      lines(git('ls-files', '--others', '--exclude-standard')),
    );
    // Fixtures, tables, settings: jest does not know which tests read them.
    if (changed.some((path) => !FOLLOWED.test(path) || CONCERN_ALL.test(path))) return null;
  } catch {
    // The commit does not exist any more, or this is not a checkout.
    return null;
  }
  const affected = new Set(listTests([`--changedSince=${commit}`, ...selection]));
  return listTests(selection).filter((path) => affected.has(path) || READ_FILES.test(path));
}

/** Records that all pure tests of the current commit have passed. With uncommitted changes nothing is recorded. */
export function rememberPassed() {
  try {
    if (git('status', '--porcelain') !== '') return;
    mkdirSync(dirname(record), { recursive: true });
    writeFileSync(record, `${git('rev-parse', 'HEAD')}\n`);
  } catch {
    // Not a checkout: every check runs all tests.
  }
}
