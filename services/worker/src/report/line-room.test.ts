import { createLineRoom } from './line-room';

const never = new AbortController().signal;
const LIMIT = 400;
/** Share of each execution when there are at most four. */
const SHARE = 100;

/** Returns whether a promise has resolved by now. */
async function isOver(wait: void | Promise<void>): Promise<boolean> {
  return await Promise.race([Promise.resolve(wait).then(() => true), Promise.resolve().then(() => false)]);
}

test('one execution that talks without end waits alone: others have a share of their own', async () => {
  const room = createLineRoom(LIMIT);
  expect(room.use('loud', SHARE, never)).toBeUndefined();
  const wait = room.use('loud', 1, never);
  expect(wait).toBeInstanceOf(Promise);
  expect(room.use('quiet', SHARE, never)).toBeUndefined();
  room.free('quiet', SHARE);
  room.free('loud', 50);
  expect(await isOver(wait)).toBe(false);
  // The execution now holds half of its share.
  room.free('loud', 1);
  expect(await isOver(wait)).toBe(true);
});

test('the more of them there are, the less each has; who goes makes room for the others', async () => {
  const room = createLineRoom(LIMIT);
  const names = Array.from({ length: 8 }, (_, i) => `execution ${i}`);
  for (const name of names) expect(room.use(name, 50, never)).toBeUndefined();
  const wait = room.use(names[0]!, 10, never);
  expect(wait).toBeInstanceOf(Promise);
  room.free(names[0]!, 20);
  expect(await isOver(wait)).toBe(false);
  for (const name of names.slice(1)) room.free(name, 50);
  expect(await isOver(wait)).toBe(true);
});

test('who is stopped does not wait', async () => {
  const room = createLineRoom(LIMIT);
  const stop = new AbortController();
  const wait = room.use('one', 500, stop.signal);
  stop.abort();
  expect(await isOver(wait)).toBe(true);
  expect(room.use('one', 1, stop.signal)).toBeUndefined();
});
