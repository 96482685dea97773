import { afterDelay, waitUntil } from './clock';

const DAY_MS = 86_400_000;

describe('afterDelay', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('waits longer than a timer of Node can', () => {
    const run = jest.fn();
    afterDelay(60 * DAY_MS, run);
    jest.advanceTimersByTime(60 * DAY_MS - 1);
    expect(run).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('is taken back, also after its first part', () => {
    const run = jest.fn();
    const leave = afterDelay(60 * DAY_MS, run);
    jest.advanceTimersByTime(50 * DAY_MS);
    leave();
    jest.advanceTimersByTime(50 * DAY_MS);
    expect(run).not.toHaveBeenCalled();
  });
});

test.each([
  [12.3, 1_013],
  [0, 1_000],
])('a wait of %d ms is over in whole ms, and not too early', (delayMs, end) => {
  expect(waitUntil(1_000, delayMs)).toBe(end);
});

test('no wait ends where no clock is', () => {
  expect(
    new Date(waitUntil(Date.parse('2026-11-22T00:00:00Z'), Number.POSITIVE_INFINITY)).getUTCFullYear(),
  ).toBe(2126);
});
