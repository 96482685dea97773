import { createRefresher } from './apply-changes';

test('a key is read again at once, then once an interval however often it is asked for', () => {
  const asked: unknown[] = [];
  const later: (() => void)[] = [];
  const refresh = createRefresher(
    {
      invalidateQueries: (async ({ queryKey }: { queryKey: unknown }) => {
        asked.push(queryKey);
      }) as never,
    },
    (_ms, run) => {
      later.push(run);
      return () => undefined;
    },
  );
  const passTime = () => later.splice(0).forEach((run) => run());
  refresh(['a'], 100);
  refresh(['a'], 100);
  refresh(['a'], 100);
  refresh(['b'], 100);
  expect(asked).toEqual([['a'], ['b']]);
  passTime();
  expect(asked).toEqual([['a'], ['b'], ['a']]);
  passTime();
  expect(asked.length).toBe(3);
  refresh(['a'], 100);
  expect(asked.length).toBe(4);
});
