import { createSlots } from './slots';

const never = new AbortController().signal;

it('places are taken in line and never more than there are', async () => {
  const slots = createSlots(2);
  expect([slots.takeSome(5), slots.takeSome(1)]).toEqual([2, 0]);
  const first = slots.take(never);
  const gone = new AbortController();
  const second = slots.take(gone.signal);
  const third = slots.take(never);
  gone.abort();
  slots.give(1);
  // Waiting callers come first.
  expect(slots.takeSome(1)).toBe(0);
  slots.give(1);
  expect(await Promise.all([first, second, third])).toEqual([true, false, true]);
  expect(slots.free).toBe(0);
  expect(await slots.take(gone.signal)).toBe(false);
});

const shared = (weights: Record<string, number> = {}) =>
  createSlots(20, { reserve: 2, weightOf: (tenant) => weights[tenant] ?? 1 });

it('one tenant alone has all places but the reserve, which another one finds free', () => {
  const slots = shared();
  expect([slots.takeSome(100, 'a'), slots.freeFor('a'), slots.isOwed('a')]).toEqual([18, 0, false]);
  expect([slots.takeSome(100, 'b'), slots.free]).toEqual([2, 0]);
});

it('what the one gives back goes to the other in line until both have their shares', async () => {
  const slots = shared();
  slots.takeSome(18, 'a');
  slots.takeSome(2, 'b');
  const waiting = [slots.take(never, 'a'), slots.take(never, 'b'), slots.take(never, 'b')];
  // Three operations of tenant a end at once. Only one may be followed by another of a: two slots are owed to b.
  expect([slots.keepable(3, 'a'), slots.keepable(3, 'b')]).toEqual([1, 3]);
  slots.give(2, 'a');
  expect(await Promise.all(waiting.slice(1))).toEqual([true, true]);
  expect([slots.freeFor('a'), slots.isOwed('b'), slots.isOwed('a')]).toEqual([0, true, false]);
});

it('tenants in line take turns, whoever came first; a weight is worth so many turns', async () => {
  const slots = shared({ heavy: 2 });
  slots.takeSome(18, 'x');
  slots.takeSome(2, 'y');
  const entered: string[] = [];
  for (const tenant of ['light', 'light', 'light', 'heavy', 'heavy', 'heavy'])
    void slots.take(never, tenant).then(() => entered.push(tenant));
  slots.give(6, 'x');
  await Promise.resolve();
  expect(entered).toHaveLength(6);
  expect(entered.slice(0, 3)).toEqual(['light', 'heavy', 'heavy']);
});

it('who waits beyond its share does not keep out who is below its own', async () => {
  const slots = shared();
  slots.takeSome(18, 'a');
  void slots.take(never, 'a');
  expect(slots.takeSome(1, 'b')).toBe(1);
});
