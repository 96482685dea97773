import { betweenMs, clockText, durationText, instantText } from './format';

test.each([
  [0, '0 ms'],
  [340.4, '340 ms'],
  [9_940, '9.9 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [3_900_000, '1 h 5 min'],
  [90_061_000, '1 d 1 h'],
  [-5, '0 ms'],
])('%d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));

test('an instant is shown in the zone that was chosen', () => {
  expect(instantText('2026-01-02T03:04:05.678Z', 'utc')).toBe('Jan 02, 2026, 03:04:05');
  expect(clockText('2026-01-02T03:04:05.678Z', 'utc')).toBe('03:04:05.678');
  expect(instantText('not a time', 'utc')).toBe('not a time');
});

test('a span needs both ends', () => {
  expect(betweenMs('2026-01-02T00:00:00.000Z', '2026-01-02T00:00:01.500Z')).toBe(1500);
  expect(betweenMs('2026-01-02T00:00:00.000Z', Date.parse('2026-01-01T00:00:00.000Z'))).toBe(0);
  expect([betweenMs(null, 5), betweenMs('2026-01-02T00:00:00.000Z', null), betweenMs('x', 5)]).toEqual([
    null,
    null,
    null,
  ]);
});
