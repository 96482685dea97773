import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { eventually } from '@baton/testkit';
import { createFileBlobStore, sweepTemporaryFolders, withTemporaryFolder } from './index';
import { rm } from './remove';

/** Sets the time of a file back, as if its process had died that long ago. */
async function age(path: string, ms: number): Promise<void> {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'blob-test-'));
});
afterEach(() => rm(root));

test('what a killed process left is swept, what lives and what is not ours stays', async () => {
  // A real process that makes a temporary folder like ours, and is killed.
  const child = spawn(process.execPath, [
    '-e',
    `const { mkdtempSync, writeFileSync } = require('node:fs');
     const folder = mkdtempSync(${JSON.stringify(join(root, 'baton-temporary-'))});
     writeFileSync(folder + '/archive', 'half of an archive');
     process.stdout.write(folder);
     setInterval(() => undefined, 1000);`,
  ]);
  const [folder] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGKILL');
  await once(child, 'exit');
  await mkdir(join(root, 'someone-elses'));
  await age(join(root, 'someone-elses'), 3_600_000);
  await withTemporaryFolder(async (living) => {
    await writeFile(join(living, 'archive'), 'under way');
    // Nothing is removed within the lease.
    expect(await sweepTemporaryFolders(root)).toBe(0);
    await age(String(folder), 41_000);
    expect(await sweepTemporaryFolders(root)).toBe(1);
    const left = await readdir(root);
    expect(left.sort()).toEqual([living.slice(root.length + 1), 'someone-elses'].sort());
  }, root);
  expect(await readdir(root)).toEqual(['someone-elses']);
});

test('the file store sweeps drafts of dead processes and keeps those that are written', async () => {
  const store = createFileBlobStore({ root });
  const incoming = join(root, 'incoming');
  await mkdir(incoming);
  await writeFile(join(incoming, 'dead'), 'half');
  await age(join(incoming, 'dead'), 41_000);
  const slow = new Readable({ read: () => undefined });
  const put = store.put(slow);
  slow.push('a part');
  await eventually(async () => expect(await readdir(incoming)).toHaveLength(2));
  expect(await store.sweep()).toBe(1);
  expect(await readdir(incoming)).toHaveLength(1);
  slow.push(null);
  const { digest } = await put;
  expect(await store.stat(digest)).toEqual({ size: 6 });
});

test('the time of what is under way is renewed', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    await withTemporaryFolder(async (folder) => {
      await age(folder, 41_000);
      await jest.advanceTimersByTimeAsync(10_000);
      jest.useRealTimers();
      // The renewal is written by the thread pool.
      await eventually(async () => {
        expect((await stat(folder)).mtimeMs).toBeGreaterThan(Date.now() - 30_000);
      });
      expect(await sweepTemporaryFolders(root)).toBe(0);
      expect(await readdir(root)).toHaveLength(1);
    }, root);
  } finally {
    jest.useRealTimers();
  }
});
