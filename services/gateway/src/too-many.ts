import { AppError } from '@baton/kernel';

/** What the body of a 429 says: which limit, whose, and when asking again is of use. */
export interface Exceeded {
  scope: 'address' | 'user' | 'tenant' | 'account';
  limit: number;
  /** What is counted, as in "more than 250 requests at once". */
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
