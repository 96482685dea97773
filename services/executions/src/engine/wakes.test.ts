import type { Broker } from '@baton/broker';
import type { Envelope } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import { createWakes } from './wakes';

/** Creates wake-ups whose drives end when the test ends them. */
function setUp() {
  const drives: { id: string; end: () => void; fail: () => void }[] = [];
  const notUsed = async (): Promise<void> => undefined;
  const broker = { publish: notUsed } as unknown as Broker;
  const wake = createWakes({ broker, clock: systemClock, log: silentLog }, () => ({
    drive: (id) =>
      new Promise((resolve, reject) => {
        drives.push({ id, end: () => resolve(), fail: () => reject(new Error('away')) });
      }),
    deliver: notUsed,
    settle: notUsed,
    due: notUsed,
    dequeue: notUsed,
    ended: notUsed,
    streams: () => undefined,
  }));
  return { wake, drives, driven: () => drives.map(({ id }) => id) };
}

/** Waits until all work is done that waits for nothing external. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('drives of one execution follow each other, those of several do not wait for each other', async () => {
  const { wake, drives, driven } = setUp();
  wake.drive('a');
  wake.drive('a');
  wake.drive('a');
  wake.drive('b');
  await settled();
  expect(driven()).toEqual(['a', 'b']);
  drives[0]!.end();
  await settled();
  // Two requests came meanwhile: one more drive is enough.
  expect(driven()).toEqual(['a', 'b', 'a']);
  drives[2]!.end();
  await settled();
  expect(driven()).toHaveLength(3);
  wake.stop();
});

test('a drive at once does not wait for one that hangs on another service, nor for its next try', async () => {
  const { wake, drives, driven } = setUp();
  wake.drive('a');
  await settled();
  wake.driveAtOnce('a');
  await settled();
  expect(driven()).toEqual(['a', 'a']);
  // The hanging drive fails at last, and waits before its next try.
  drives[0]!.fail();
  await settled();
  wake.driveAtOnce('a');
  await settled();
  expect(driven()).toEqual(['a', 'a', 'a']);
  wake.stop();
});

test('a drive at once beside one that hangs is tried again when it fails', async () => {
  const { wake, drives, driven } = setUp();
  wake.drive('a');
  await settled();
  wake.driveAtOnce('a');
  await settled();
  drives[1]!.fail();
  await eventually(() => drives.length === 3);
  drives[2]!.end();
  await settled();
  expect(driven()).toEqual(['a', 'a', 'a']);
  wake.stop();
});

test('where nothing is under way a drive at once is one drive, whose failure is tried again', async () => {
  const { wake, drives, driven } = setUp();
  wake.driveAtOnce('a');
  await settled();
  expect(driven()).toEqual(['a']);
  drives[0]!.fail();
  await wake.driven('a');
  await eventually(() => drives.length === 2);
  drives[1]!.end();
  await settled();
  expect(driven()).toEqual(['a', 'a']);
  wake.stop();
});

test('after a stop nothing is driven', async () => {
  const { wake, drives, driven } = setUp();
  wake.drive('a');
  await settled();
  wake.drive('a');
  wake.stop();
  wake.driveAtOnce('a');
  wake.drive('b');
  drives[0]!.end();
  await settled();
  expect(driven()).toEqual(['a']);
});

describe('announcements', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function announcing() {
    const sent: unknown[] = [];
    const woken: [string, boolean][] = [];
    let isAway = false;
    const publish = async (envelopes: readonly Envelope[]): Promise<void> => {
      if (isAway) throw new Error('away');
      sent.push(...envelopes.map(({ payload }) => payload));
    };
    const notUsed = async (): Promise<void> => undefined;
    const wake = createWakes(
      { broker: { publish } as unknown as Broker, clock: systemClock, log: silentLog },
      () => ({
        drive: notUsed,
        deliver: notUsed,
        settle: notUsed,
        due: notUsed,
        dequeue: notUsed,
        ended: notUsed,
        streams: (id, hasStates) => void woken.push([id, hasStates]),
      }),
    );
    return { wake, sent, woken, setAway: (away: boolean) => void (isAway = away) };
  }

  test('what has moved is told here at once, and to others a moment later, each execution once', async () => {
    const { wake, sent, woken } = announcing();
    wake.events('a');
    wake.statesApplied('b');
    wake.events('b');
    expect(woken).toEqual([
      ['a', false],
      ['b', true],
      ['b', false],
    ]);
    await jest.advanceTimersByTimeAsync(100);
    expect(sent).toEqual([{ executionIds: ['a', 'b'], statesOf: ['b'] }]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(sent).toHaveLength(1);
    wake.stop();
  });

  test('what the broker did not take is announced again', async () => {
    const { wake, sent, setAway } = announcing();
    setAway(true);
    wake.events('a');
    await jest.advanceTimersByTimeAsync(3_000);
    expect(sent).toEqual([]);
    setAway(false);
    wake.statesApplied('b');
    await jest.advanceTimersByTimeAsync(2_000);
    expect(sent).toEqual([{ executionIds: ['a', 'b'], statesOf: ['b'] }]);
    wake.stop();
  });

  test('a process that begins, and one that has too much to announce, say that something may be missing', async () => {
    const { wake, sent, setAway } = announcing();
    setAway(true);
    wake.begin();
    await jest.advanceTimersByTimeAsync(500);
    setAway(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(sent).toEqual([{ changes: [], isIncomplete: true }]);
    for (let i = 0; i <= 20_000; i++) wake.events(`e${i}`);
    await jest.advanceTimersByTimeAsync(100);
    expect(sent.slice(1)).toEqual([{ changes: [], isIncomplete: true }]);
    wake.stop();
  });
});
