import type { Broker } from '@baton/broker';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import { createWakes } from './wakes';

/** Wake-ups whose drives end when the test says so. */
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

/** All that follows without an await of the outside has happened then. */
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
  // Asked for twice meanwhile: once more is enough.
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
  // The hanging one fails at last, and waits before it tries again.
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
