import { nextLookMs, waitsUntilMs } from './next-look';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const retry = (until: string | null) => ({ kind: 'retry-timer' as const, until });
const lease = (until: string) => ({ kind: 'lease' as const, until });

test('reasons are read again when the first time of theirs has come', () => {
  const reasons = [retry('2026-01-01T00:00:30Z'), retry('2026-01-01T00:00:10Z'), retry(null)];
  expect(nextLookMs(reasons, NOW)).toBe(11_000);
});

test('a time that has passed, and the end of a lease, are no reason to ask', () => {
  expect(nextLookMs([retry('2025-12-31T23:59:00Z'), lease('2026-01-01T00:00:10Z')], NOW)).toBeNull();
  expect(nextLookMs([], NOW)).toBeNull();
  // The last request was slightly too early.
  expect(nextLookMs([retry('2025-12-31T23:59:59.500Z')], NOW)).toBe(500);
});

test('people are told times that they wait for', () => {
  expect(waitsUntilMs(retry('2026-01-01T00:00:00Z'))).toBe(NOW);
  expect([waitsUntilMs(lease('2026-01-01T00:00:00Z')), waitsUntilMs(retry('never'))]).toEqual([null, null]);
});
