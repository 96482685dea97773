import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { workerSocket } from './worker-socket';

const dir = mkdtempSync(join(tmpdir(), 'baton-socket-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('it lies in the home, and what a process left there is removed', async () => {
  const left = join(dir, 'workers.sock');
  writeFileSync(left, '');
  const { socket, remove } = await workerSocket({ dir });
  expect([socket, existsSync(left)]).toEqual([left, false]);
  writeFileSync(socket, '');
  await remove();
  expect(existsSync(socket)).toBe(false);
});

test('a home whose path is too long for a socket has it in a folder that nobody else enters', async () => {
  const deep = join(dir, 'd'.repeat(60), 'e'.repeat(60));
  mkdirSync(deep, { recursive: true });
  const { socket, remove } = await workerSocket({ dir: deep });
  expect(Buffer.byteLength(socket)).toBeLessThan(104);
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  await remove();
  expect(existsSync(dirname(socket))).toBe(false);
});
