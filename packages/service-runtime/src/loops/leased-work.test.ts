import { silentLog } from '@baton/kernel';
import { leasedWork } from './leased-work';

/** Steps controlled by the test: each step takes one piece of the queue `left`. */
function pieces() {
  const left: (number | Error)[] = [];
  const taken: unknown[] = [];
  let onLook = () => undefined as void;
  const leased = leasedWork({
    name: 'pieces',
    log: silentLog,
    takeStep: async () => {
      const piece = left.shift() ?? null;
      await Promise.resolve(onLook());
      taken.push(piece);
      if (piece instanceof Error) throw piece;
      return piece;
    },
  });
  return { left, taken, leased, during: (call: () => void) => (onLook = call) };
}

test('work goes on until nothing is left, and again when it is asked for behind the last look', async () => {
  const { left, taken, leased, during } = pieces();
  left.push(0, 0);
  await leased.work();
  expect(taken).toEqual([0, 0, null]);
  during(() => {
    during(() => undefined);
    left.push(0);
    void leased.work();
  });
  await leased.work();
  expect(taken).toEqual([0, 0, null, null, 0, null]);
});

test('a step that fails ends the round, not the work; a stop begins no further step', async () => {
  const { left, taken, leased } = pieces();
  left.push(new Error('database away'), 0);
  await leased.work();
  expect(taken).toHaveLength(1);
  await leased.work();
  expect(taken).toEqual([expect.any(Error), 0, null]);
  await leased.stop();
  left.push(0);
  await leased.work();
  expect(taken).toHaveLength(3);
});
