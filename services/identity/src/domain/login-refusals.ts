import { AppError } from '@baton/kernel';

/** @returns unauthorized_error with the words that clients of the original look for. */
export function unauthorized(reason: string): AppError {
  return new AppError('unauthorized_error', `User unauthorized: ${reason}`);
}

/** The same text as for a request without credentials, so that it does not show whether the user exists. */
export const noCredentials = (): AppError => unauthorized('No authentication info provided');

/** The errors for refused logins. */
export interface LoginRefusals {
  /** No user has this name. */
  unknown(): AppError;
  /** The password is wrong, or the account is locked. */
  rejected(username: string): AppError;
  /** The account is inactive. `locked` makes the error for a locked account. */
  inactive(locked: () => AppError): AppError;
}

/** Error for a call that needs a session cookie and has none, and for a session that has ended. */
export const noSession = (): AppError => unauthorized('There is no session');

/** One text for unknown, used and expired codes. */
export const badCode = (): AppError =>
  unauthorized(
    'The code is not good, was used or is too old; sign in with a password, or start the manager again',
  );

export const rejected = (): AppError => unauthorized('Wrong credentials or locked account');

/** One text for all refusals, so that it does not show whether a user exists. */
export const specRefusals: LoginRefusals = {
  unknown: rejected,
  rejected,
  inactive: (locked) => locked(),
};
