import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executionsRpc } from '@baton/contracts';
import { type Log, silentLog, systemClock } from '@baton/kernel';
import { mountSmallDisk, onSmallDisks } from '@baton/testkit';
import { frameOf } from './record-file';
import { openTaskJournal, type TaskJournal } from './task-journal';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-journal-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const task = (taskId: string) => ({ taskId, executionId: 'e', attempt: 1, tenant: 't', startedAt: '' });
const outcome = (taskId: string, resultJson = '1') =>
  executionsRpc.TaskOutcome.fromPartial({ taskId, executionId: 'e', attempt: 1, kind: 1, resultJson });
const open = (log: Log = silentLog, folder = dir): Promise<TaskJournal> =>
  openTaskJournal({ dir: folder, clock: systemClock, log });
const shown = (journal: TaskJournal): string[] =>
  journal.all().map((one) => `${one.taskId} ${one.outcome?.resultJson ?? 'begun'}`);

test('what began, ended and was taken is known to the next process', async () => {
  const journal = await open();
  for (const id of ['a', 'b', 'c']) await journal.begin(task(id));
  await journal.ended('b', outcome('b'));
  await journal.ended('c', outcome('c'));
  journal.done('c', 1);
  await journal.close();
  const next = await open();
  expect(shown(next)).toEqual(['a begun', 'b 1']);
  await next.close();
});

test('a process that is killed at any moment loses nothing that it called certain', async () => {
  const said: string[] = [];
  for (let round = 0; round < 4; round++) {
    const writer = spawn(process.execPath, [
      '--import',
      'tsx',
      join(__dirname, '../testing/journal-writer.main.ts'),
      dir,
    ]);
    let text = '';
    await new Promise<void>((resolve) => {
      writer.stdout.on('data', (part) => {
        text += String(part);
        if (text.split('\n').length > 60 + 37 * round) writer.kill('SIGKILL');
      });
      writer.on('close', () => resolve());
    });
    said.push(...text.slice(0, text.lastIndexOf('\n')).split('\n'));
    const journal = await open();
    const known = new Map(journal.all().map((one) => [one.taskId, one.outcome !== null]));
    for (const line of said) {
      const [what, number] = line.split(' ') as [string, string];
      const isTaken = Number(number) % 5 === 0 && Number(number) % 2 === 1;
      if (isTaken) continue;
      expect([line, known.has(`t${number}`)]).toEqual([line, true]);
      if (what === 'ended') expect([line, known.get(`t${number}`)]).toEqual([line, true]);
    }
    await journal.close();
  }
});

test('a damaged middle is put aside and said loudly, and the rest is used', async () => {
  const journal = await open();
  for (const id of ['a', 'b', 'c']) await journal.begin(task(id));
  await journal.close();
  const file = join(dir, readdirSync(dir)[0]!);
  const data = readFileSync(file);
  const at = data.indexOf('"b"');
  data.write('"X"', at);
  writeFileSync(file, data);
  const errors: string[] = [];
  const next = await open({ ...silentLog, error: (_fields, message) => void errors.push(message) });
  expect(shown(next)).toEqual(['a begun', 'c begun']);
  expect(errors.join()).toContain('THE JOURNAL IS DAMAGED');
  expect(readdirSync(dir).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
  await next.close();
});

test('a group that outlived the agent is killed; a number that another process has by now is not', async () => {
  const [left, other] = [0, 1].map(() => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));
  const ends = [left, other].map(
    (child) => new Promise((resolve) => child!.once('exit', (_c, signal) => resolve(signal))),
  );
  const journal = await open();
  journal.group(left!.pid!);
  journal.group(other!.pid!);
  await journal.begin(task('a'));
  await journal.close();
  const file = join(dir, readdirSync(dir)[0]!);
  // As if the second process had been started at another time.
  const text = readFileSync(file).toString('latin1');
  const found = new RegExp(`"pid":${other!.pid},"start":"(\\d+)"`).exec(text)!;
  const entry = {
    t: 'group',
    pid: other!.pid,
    start: `${Number(found[1]) - 1}`,
    boot: /"boot":"([^"]+)"/.exec(text)![1],
  };
  const at = readFileSync(file).lastIndexOf('}') + 1;
  writeFileSync(
    file,
    Buffer.concat([readFileSync(file).subarray(0, at), frameOf(Buffer.from(JSON.stringify(entry)))]),
  );
  await (await open()).close();
  expect(await ends[0]).toBe('SIGKILL');
  expect(other!.exitCode).toBeNull();
  expect(other!.signalCode).toBeNull();
  other!.kill('SIGKILL');
  await ends[1];
});

onSmallDisks(__filename, () => {
  test('on a full disk nothing starts, and what runs keeps its outcome', async () => {
    const small = join(dir, 'small');
    mkdirSync(small);
    const disk = mountSmallDisk(small, 1_200_000);
    try {
      const journal = await open(silentLog, join(small, 'journal'));
      await journal.begin(task('a'));
      await journal.begin(task('b'));
      expect(() => writeFileSync(join(small, 'other'), Buffer.alloc(2_000_000))).toThrow(/ENOSPC/);
      let refused = 0;
      for (let i = 0; i < 20; i++) await journal.begin(task(`x${i}`)).catch(() => refused++);
      expect(refused).toBeGreaterThan(0);
      expect(journal.isFull()).toBe(true);
      expect(await journal.hasRoom()).toBe(false);
      expect(await journal.ended('a', outcome('a', 'r'.repeat(60_000)))).toBe(true);
      expect(await journal.ended('b', outcome('b', 'r'.repeat(60_000)))).toBe(true);
      await journal.close();
      const next = await open(silentLog, join(small, 'journal'));
      expect(next.all().filter(({ outcome: end }) => end?.resultJson.length === 60_000)).toHaveLength(2);
      rmSync(join(small, 'other'));
      expect(await next.hasRoom()).toBe(true);
      await next.begin(task('later'));
      await next.close();
    } finally {
      disk.unmount();
    }
  });
});
