import { silentLog } from '@baton/kernel';
import { LeaseLost, underLease } from './under-lease';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const held = (answers: (boolean | Error)[]) => {
  const renewals: number[] = [];
  const stopping = new AbortController();
  const lease = {
    leaseMs: 15_000,
    renew: async () => {
      renewals.push(Date.now());
      const answer = answers.shift() ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    stopping: stopping.signal,
    log: silentLog,
  };
  return { lease, renewals, stopping };
};

test('a lease is renewed in time while the work lasts, also after a renewal that failed, and not behind its end', async () => {
  const { lease, renewals } = held([true, new Error('database away'), true]);
  let end = (): void => undefined;
  const done = underLease(lease, async (signal) => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return signal.aborted;
  });
  const since = Date.now();
  await jest.advanceTimersByTimeAsync(44_000);
  expect(renewals.length).toBeGreaterThanOrEqual(8);
  const gaps = renewals.map((at, i) => at - (renewals[i - 1] ?? since));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000);
  end();
  expect(await done).toBe(false);
  const before = renewals.length;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(renewals).toHaveLength(before);
});

test('work is told that somebody else has it, and that the process stops', async () => {
  const { lease } = held([false]);
  const reasons: unknown[] = [];
  const lasting = (signal: AbortSignal) =>
    new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        resolve();
      }),
    );
  const lost = underLease(lease, lasting);
  await jest.advanceTimersByTimeAsync(5_000);
  await lost;
  expect(reasons).toEqual([expect.any(LeaseLost)]);
  const { lease: other, stopping } = held([]);
  const stopped = underLease(other, lasting);
  stopping.abort('the process stops');
  await stopped;
  expect(reasons.at(-1)).toBe('the process stops');
});
