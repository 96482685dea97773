import { createSlots } from './slots';

it('places are taken in line and never more than there are', async () => {
  const slots = createSlots(2);
  const never = new AbortController();
  expect([slots.takeSome(5), slots.takeSome(1)]).toEqual([2, 0]);
  const first = slots.take(never.signal);
  const gone = new AbortController();
  const second = slots.take(gone.signal);
  const third = slots.take(never.signal);
  gone.abort();
  slots.give(1);
  // Those in line come first.
  expect(slots.takeSome(1)).toBe(0);
  slots.give(1);
  expect(await Promise.all([first, second, third])).toEqual([true, false, true]);
  expect(slots.free).toBe(0);
  expect(await slots.take(gone.signal)).toBe(false);
});
