import { AppError } from '@baton/kernel';

/** @returns unauthorized_error with the words that clients of the original look for. */
export function unauthorized(reason: string): AppError {
  return new AppError('unauthorized_error', `User unauthorized: ${reason}`);
}

/** Same text as for a request without credentials: nothing tells whether the user exists. */
export const noCredentials = (): AppError => unauthorized('No authentication info provided');

/** What a login that is refused is told. */
export interface LoginRefusals {
  /** Nobody has this name. */
  unknown(): AppError;
  /** The password is wrong, or the account is locked. */
  rejected(username: string): AppError;
  /** The account is inactive. `locked` is what one that is locked is told. */
  inactive(locked: () => AppError): AppError;
}

const rejected = (): AppError => unauthorized('Wrong credentials or locked account');

/** One text for all: nothing tells whether a user exists. */
export const specRefusals: LoginRefusals = {
  unknown: rejected,
  rejected,
  inactive: (locked) => locked(),
};
