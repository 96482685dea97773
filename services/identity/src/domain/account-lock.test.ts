import { isLocked } from './account-lock';

const settings = { failedLoginsBeforeLock: 4, lockPeriodMinutes: 10 };

test('the fifth failure locks, until the period is over', () => {
  expect(isLocked({ failedLogins: 4, sinceLastFailureMs: 0 }, settings)).toBe(false);
  expect(isLocked({ failedLogins: 5, sinceLastFailureMs: 599_999 }, settings)).toBe(true);
  expect(isLocked({ failedLogins: 5, sinceLastFailureMs: 600_000 }, settings)).toBe(false);
  expect(isLocked({ failedLogins: 5, sinceLastFailureMs: null }, settings)).toBe(false);
});

test('a period of -1 never locks', () => {
  expect(isLocked({ failedLogins: 500, sinceLastFailureMs: 0 }, { ...settings, lockPeriodMinutes: -1 })).toBe(
    false,
  );
});
