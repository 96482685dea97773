import { idTimeMs, isUuid, newId } from './ids';

const clock = (ms: number) => jest.spyOn(globalThis.Date, 'now').mockReturnValue(ms);
afterEach(() => jest.restoreAllMocks());

const NOW = Date.UTC(2040, 0, 1);
const many = (count: number) => Array.from({ length: count }, () => newId());
const sorted = (ids: readonly string[]) => [...ids].sort();

test('ids are UUIDv7 and say when they were made', () => {
  const id = newId(NOW);
  expect(isUuid(id)).toBe(true);
  expect([id[14], '89ab'.includes(id[19]!)]).toEqual(['7', true]);
  expect(idTimeMs(id)).toBe(NOW);
  expect(idTimeMs('5c000000-0000-4000-8000-000000000000')).toBeNull();
  expect(new Set(many(1_000)).size).toBe(1_000);
});

test('ids of one millisecond are in order, however many, and so are those after a small step back', () => {
  clock(NOW);
  const ids = many(10_000);
  clock(NOW - 900);
  ids.push(...many(10));
  clock(NOW + 50);
  ids.push(...many(10));
  expect(sorted(ids)).toEqual(ids);
  expect(idTimeMs(ids.at(-1)!)).toBe(NOW + 50);
});

test('a clock that was put back is followed', () => {
  clock(NOW + 10_000);
  newId();
  clock(NOW);
  expect(idTimeMs(newId())).toBe(NOW);
});
