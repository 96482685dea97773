/** Why a sign-in at a provider opened no session. The code goes to the page, the reason to the log. */
export type LoginFailureCode =
  /** The attempt is unknown, over, of another browser or was used already. */
  | 'expired'
  /** The provider or the user refused, or the answer of the provider cannot be trusted. */
  | 'refused'
  | 'bad_answer'
  | 'provider_away'
  /** A local user, or one of another provider, has the name. */
  | 'name_taken'
  | 'bad_name'
  /** The provider takes only users that an administrator made, and this one is none. */
  | 'unknown_user'
  | 'inactive'
  | 'no_provider';

export class LoginFailure extends Error {
  constructor(
    readonly code: LoginFailureCode,
    /** For the log: names neither a secret nor a whole answer. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`sign-in at a provider failed: ${reason}`, options);
  }
}
