import { parseInstant, readInstant } from './instant';

test.each([
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2026-11-22 04:05:06', '2026-11-22T04:05:06.000Z'],
  ['2026-11-22T04:05:06.123456Z', '2026-11-22T04:05:06.123Z'],
  ['2026-11-22T04:05:06+02:30', '2026-11-22T01:35:06.000Z'],
  ['2026-11-22T04:05:06-0100', '2026-11-22T05:05:06.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  [' 0001-01-01 ', '0001-01-01T00:00:00.000Z'],
])('%s is a time', (text, instant) => {
  expect(readInstant('since', text)).toBe(instant);
});

test.each([
  '',
  'today',
  '-1',
  '00',
  '2026',
  '2026-13-01',
  '2026-02-30',
  '2026-11-22 04:05',
  '2026-11-22 24:00:00',
  '2026-11-22T25:00:00Z',
  '2026-11-22 04:05:06 +0200 (CET)',
  '2026-11-22T04:05:06+99:99',
  '0000-01-01',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '+275760-09-13T00:00:00Z',
])('%s is none', (text) => {
  expect(parseInstant(text)).toBeNull();
});

test('a refusal names the field and what was expected', () => {
  expect(() => readInstant('until', '2026-02-30')).toThrow(
    expect.objectContaining({
      code: 'bad_parameters_error',
      message: 'until: `2026-02-30` is no time',
      details: expect.objectContaining({ field: 'until', expected: expect.any(String) }),
    }),
  );
});
