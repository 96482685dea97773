import { AppError } from '@baton/kernel';

/** The contents of a 429 answer: the limit, whose limit it is, and when the client may try again. */
export interface Exceeded {
  scope: 'address' | 'user' | 'tenant' | 'account';
  limit: number;
  /** The counted things, as in "more than 250 requests at once". */
  what: string;
  retryAfterS?: number;
}

export function tooMany({ scope, limit, what, retryAfterS = 1 }: Exceeded): AppError {
  return new AppError('too_many_requests_error', `One ${scope} has more than ${limit} ${what}`, {
    limit,
    scope,
    what,
    expected: `at most ${limit} ${what} of one ${scope}`,
    retry_after: retryAfterS,
  });
}
