import { AppError, silentLog } from '@baton/kernel';
import { startLoop } from '..';

const gate = () => {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test('ticks never overlap, again follows at once, stop waits for the tick under way', async () => {
  const seen: string[] = [];
  const finish = gate();
  const third = gate();
  let n = 0;
  const loop = startLoop(
    {
      name: 'x',
      intervalMs: 60_000,
      tickOnce: async () => {
        seen.push(`start ${++n}`);
        if (n < 3) return { again: true };
        third.open();
        await finish.opened;
        seen.push('end');
        return undefined;
      },
    },
    { log: silentLog, random: () => 0 },
  );
  await third.opened;
  loop.wake();
  const stopped = loop.stop().then(() => seen.push('stopped'));
  finish.open();
  await stopped;
  expect(seen).toEqual(['start 1', 'start 2', 'start 3', 'end', 'stopped']);
});

test('failures are logged by kind, counted, and the loop goes on', async () => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: () => void lines.push('warn'), error: () => void lines.push('error') };
  const observed: boolean[] = [];
  const done = gate();
  let n = 0;
  const loop = startLoop(
    {
      name: 'x',
      intervalMs: 1,
      tickOnce: async () => {
        n++;
        if (n === 1) throw new AppError('service_unavailable_error', 'away');
        if (n === 2) throw new Error('bug');
        done.open();
      },
    },
    { log, observe: (_name, _ms, isFailed) => void observed.push(isFailed) },
  );
  await done.opened;
  await loop.stop();
  expect(lines).toEqual(['warn', 'error']);
  expect(observed.slice(0, 3)).toEqual([true, true, false]);
});

test('a tick that knows when something falls due is followed by the next one then', async () => {
  const done = gate();
  let n = 0;
  const loop = startLoop(
    {
      name: 'x',
      intervalMs: 3_600_000,
      tickOnce: async () => {
        if (++n === 3) done.open();
        return { againInMs: 1 };
      },
    },
    { log: silentLog, random: () => 0 },
  );
  await done.opened;
  await loop.stop();
  expect(n).toBeGreaterThanOrEqual(3);
});
