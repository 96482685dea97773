import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

it('goes on when the standard error output is a file on a full disk', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const program = `const { complain } = require('./complain.ts');
      for (let i = 0; i < 3; i++) complain('a line\\n');
      setImmediate(() => process.stdout.write('went on'));`;
    const { stdout, status } = spawnSync(process.execPath, ['--import', 'tsx', '-e', program], {
      stdio: ['ignore', 'pipe', full],
      encoding: 'utf8',
      cwd: __dirname,
    });
    expect([stdout, status]).toEqual(['went on', 0]);
  } finally {
    closeSync(full);
  }
});
