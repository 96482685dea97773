/** Account lock after failed logins (reference/rest-api.md 2.2). */
export interface LockSettings {
  /** An account is locked after more failures in a row than this. */
  failedLoginsBeforeLock: number;
  /** Minutes that a lock lasts after the last failure; -1 = accounts are never locked. */
  lockPeriodMinutes: number;
}

export interface LoginHistory {
  failedLogins: number;
  /** Milliseconds since the last failure by the clock of the database; null: none. */
  sinceLastFailureMs: number | null;
}

/** Whether the account is locked now, for every kind of credential. */
export function isLocked(history: LoginHistory, settings: LockSettings): boolean {
  if (settings.lockPeriodMinutes < 0 || history.sinceLastFailureMs === null) return false;
  if (history.failedLogins <= settings.failedLoginsBeforeLock) return false;
  return history.sinceLastFailureMs < settings.lockPeriodMinutes * 60_000;
}
