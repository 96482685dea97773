import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownDir, sweepOwnDirs } from './settings';

it('a worker that starts removes what dead ones left: runs, and copies that nobody stored', async () => {
  const root = mkdtempSync(join(tmpdir(), 'baton-sweep-'));
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const alive = process.ppid;
  for (const kind of ['runs', 'copies'])
    for (const pid of [dead, alive]) {
      mkdirSync(join(root, kind, String(pid), 'dep'), { recursive: true });
      writeFileSync(join(root, kind, String(pid), 'dep', 'file'), 'left');
    }
  mkdirSync(join(ownDir(root, 'copies'), 'dep'), { recursive: true });
  await sweepOwnDirs(root);
  expect(readdirSync(join(root, 'runs'))).toEqual([String(alive)]);
  expect(readdirSync(join(root, 'copies'))).toEqual([String(alive)]);
  rmSync(root, { recursive: true });
});
