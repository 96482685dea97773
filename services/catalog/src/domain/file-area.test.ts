import { modifiedTime } from './file-area';

test.each([
  ['2026-11-22T04:05:06.123456Z', '2026-11-22T04:05:06.123456Z'],
  [' 2026-11-22 04:05:06 ', '2026-11-22 04:05:06Z'],
  ['2026-11-22T04:05:06+02:00', '2026-11-22T04:05:06+02:00'],
  ['1700000000.5', '2023-11-14T22:13:20.500000Z'],
])('an mtime of %p is %s, with its microseconds', (given, stored) => {
  expect(modifiedTime(given)).toBe(stored);
});

test.each(['yesterday', '2026-02-30T00:00:00Z'])('%s is refused', (given) => {
  expect(() => modifiedTime(given)).toThrow(
    expect.objectContaining({
      code: 'bad_parameters_error',
      details: expect.objectContaining({ field: 'mtime' }),
    }),
  );
});
