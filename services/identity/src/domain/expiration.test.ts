import { parseExpiration, requireExpiration } from './expiration';

const now = Date.parse('2026-01-31T10:20:30.500Z');
const iso = (text: string): string | null => {
  const parsed = parseExpiration(text, now);
  return parsed.ok ? new Date(parsed.value).toISOString() : null;
};

test.each([
  ['2050-01-02 03:04', '2050-01-02T03:04:00.000Z'],
  ['2050-01-02', '2050-01-02T00:00:00.000Z'],
  ['2050-01-02T03:04:05.678Z', '2050-01-02T03:04:05.678Z'],
  ['23:15', '2026-01-31T23:15:00.000Z'],
  ['+2h', '2026-01-31T12:20:30.500Z'],
  ['+10 minutes', '2026-01-31T10:30:30.500Z'],
  ['+1d 12h', '2026-02-01T22:20:30.500Z'],
  ['+1d+12h', '2026-02-01T22:20:30.500Z'],
  ['+2w', '2026-02-14T10:20:30.500Z'],
  ['+1mo', '2026-02-28T10:20:30.500Z'],
  ['+1 year', '2027-01-31T10:20:30.500Z'],
])('%s ends at %s', (text, expected) => expect(iso(text)).toBe(expected));

test.each([
  '',
  'rubbish',
  '+',
  '+2',
  '+2 parsecs',
  '+h',
  '25:00',
  '12:61',
  '2050-02-30',
  '2050-01-01 24:00',
  '2001-01-01 00:00',
  '10:00',
  '+0h',
  '+999999y',
  '1h',
])('%p is refused', (text) => expect(iso(text)).toBeNull());

test('the refusal names the field and what is expected', () => {
  expect(() => requireExpiration('rubbish', now)).toThrow(
    expect.objectContaining({
      code: 'bad_parameters_error',
      details: expect.objectContaining({ field: 'expiration_date' }),
    }),
  );
  expect(requireExpiration('+1h', now)).toBe(now + 3_600_000);
});
