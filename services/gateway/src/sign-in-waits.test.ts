import { createSignInWaits } from './sign-in-waits';

/** Starts waits that the test ends. */
function held(waits: ReturnType<typeof createSignInWaits>) {
  const ends: (() => void)[] = [];
  return {
    begin: (address: string) =>
      waits.run(address, () => new Promise<string>((resolve) => ends.push(() => resolve('came')))),
    endAll: () => ends.splice(0).forEach((end) => void end()),
  };
}

test('sixteen of one address wait; the next is refused, another address is not', async () => {
  const { begin, endAll } = held(createSignInWaits());
  const all = Array.from({ length: 16 }, () => begin('a'));
  await expect(begin('a')).rejects.toMatchObject({
    code: 'too_many_requests_error',
    details: { scope: 'address', limit: 16 },
  });
  all.push(begin('b'));
  endAll();
  expect(new Set(await Promise.all(all))).toEqual(new Set(['came']));
  const again = begin('a');
  endAll();
  expect(await again).toBe('came');
});

test('256 of all addresses wait, whoever sends them; one that fails leaves its place', async () => {
  const waits = createSignInWaits();
  const { begin, endAll } = held(waits);
  const all = Array.from({ length: 255 }, (_, i) => begin(`a${i % 32}`));
  await expect(waits.run('c', () => Promise.reject(new Error('left')))).rejects.toThrow('left');
  all.push(begin('c'));
  await expect(begin('d')).rejects.toMatchObject({ code: 'service_unavailable_error' });
  endAll();
  await Promise.all(all);
});
