// Asks a real bash. Needs the program bash.
import { spawnSync } from 'node:child_process';
import { completionScript } from './completion';
import { buildProgram } from './program';
import { quietIo } from './testing-io';

const script = completionScript(buildProgram(quietIo().io).program, 'bash');

/** Returns what bash offers for the last word. */
function offered(...words: string[]): string[] {
  const typed = ['baton', ...words].map((word) => `'${word}'`).join(' ');
  const program = `${script}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _baton; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', program], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`bash: ${stderr}`);
  return stdout.trim().split(' ').filter(Boolean);
}

test.each([
  [['tenan'], ['tenants']],
  [['sites', 'up'], ['update']],
  [['site', 'up'], ['update']],
  [['--json', '-t', 'lab', 'sites', 'up'], ['update']],
  [['-o', 'ya'], ['yaml']],
  [['secrets', 'create', '--vis'], ['--visibility']],
  [['secrets', 'create', '--visibility', 'gl'], ['global']],
  [['executions', 'start', '-d', 'start', '--dry'], ['--dry-run']],
])('%p', (words, expected) => expect(offered(...words)).toEqual(expected));
