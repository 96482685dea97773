import { createFairQueue } from './fair-queue';

function world(limits: Partial<Parameters<typeof createFairQueue>[0]> = {}) {
  const queue = createFairQueue({ atOnce: 1, maxPending: 10, maxPendingOfName: 4, ...limits });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, what: string) =>
    queue.run(name, () => {
      begun.push(what);
      return new Promise<string>((resolve) => ends.push(() => resolve(what)));
    });
  const endNext = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { add, begun, endNext };
}

test('names take turns: one with much to do waits behind himself', async () => {
  const { add, begun, endNext } = world();
  const all = [add('eve', 'e1'), add('eve', 'e2'), add('eve', 'e3'), add('bob', 'b1'), add('carol', 'c1')];
  for (let i = 0; i < 5; i++) await endNext();
  expect(begun).toEqual(['e1', 'e2', 'b1', 'c1', 'e3']);
  expect(await Promise.all(all)).toEqual(['e1', 'e2', 'e3', 'b1', 'c1']);
});

test('beyond its part a name is refused at once, and others are not', async () => {
  const { add, begun, endNext } = world();
  const four = [1, 2, 3, 4].map((n) => add('eve', `e${n}`));
  await expect(add('eve', 'e5')).rejects.toMatchObject({ code: 'too_many_requests_error' });
  const bob = add('bob', 'b1');
  for (let i = 0; i < 5; i++) await endNext();
  await Promise.all([...four, bob]);
  expect(begun).not.toContain('e5');
  const again = add('eve', 'e6');
  await endNext();
  expect(await again).toBe('e6');
});

test('more names than there is room for are refused, and what fails gives its place back', async () => {
  const { add, endNext } = world({ maxPending: 2 });
  const two = [add('a', 'a'), add('b', 'b')];
  await expect(add('c', 'c')).rejects.toMatchObject({ code: 'too_many_requests_error' });
  await endNext();
  await endNext();
  await Promise.all(two);
  const queue = createFairQueue({ atOnce: 1, maxPending: 1, maxPendingOfName: 1 });
  await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await queue.run('a', async () => 'yes')).toBe('yes');
});
