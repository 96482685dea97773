// The hook that checks commit messages, and the installation step that activates it in Git.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(__dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'baton-hooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output of the hook for a message; empty: it accepts the message. */
function judged(message: string): string {
  const file = join(folder, 'message');
  writeFileSync(file, message);
  const run = spawnSync(process.execPath, [join(root, '.githooks/commit-msg'), file], { encoding: 'utf8' });
  expect(run.status).toBe(run.stderr === '' ? 0 : 1);
  return run.stderr;
}

test('a short subject, a blank line and a body of 100 characters are accepted', () => {
  expect(judged(`catalog: refuse archives with two top folders\n\n${'a'.repeat(100)}\n`)).toBe('');
  expect(judged('s'.repeat(72))).toBe('');
});

test('every fault is told at once, with its line', () => {
  const told = judged(`${'s'.repeat(72)}.\nno blank line\n${'b'.repeat(101)}\n`);
  expect(told).toContain('the subject has 73 characters; at most 72');
  expect(told).toContain('ends with a period');
  expect(told).toContain('second line must be blank');
  expect(told).toContain('line 3 has 101 characters; at most 100');
  expect(judged('\n\nbody\n')).toContain('the first line is empty');
});

test("comments of Git do not count, and Git's own messages are left alone", () => {
  expect(judged(`docs: walks\n# ${'c'.repeat(200)}\n`)).toBe('');
  expect(judged(`docs: walks\n\n# ---- >8 ----\n${'d'.repeat(200)}\n`)).toBe('');
  expect(judged(`Merge branch '${'m'.repeat(90)}'`)).toBe('');
});

const git = (cwd: string, ...args: string[]) =>
  spawnSync('git', args, { cwd, encoding: 'utf8' }).stdout.trim();

/** Runs the installation step in a folder; returns the hooks path of Git afterwards. */
function hooksPathAfterInstall(cwd: string): string {
  const install = pathToFileURL(join(root, 'tools/install.mjs')).href;
  const script = `import(${JSON.stringify(install)}).then((m) => m.useHooks(${JSON.stringify(cwd)}))`;
  expect(spawnSync(process.execPath, ['-e', script]).status).toBe(0);
  return git(cwd, 'config', 'core.hooksPath');
}

test('the installation sets the hooks path in a checkout of its own only', () => {
  const [own, inner, plain] = ['own', 'own/inner', 'plain'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [inner, plain]) mkdirSync(path, { recursive: true });
  git(own, 'init');
  expect(hooksPathAfterInstall(inner)).toBe('');
  expect(hooksPathAfterInstall(plain)).toBe('');
  expect(hooksPathAfterInstall(own)).toBe('.githooks');
  git(own, 'config', 'core.hooksPath', 'elsewhere');
  expect(hooksPathAfterInstall(own)).toBe('elsewhere');
});
