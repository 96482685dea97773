import type { AppError } from '@baton/kernel';
import { type LoginRefusals, specRefusals } from '../domain/login-refusals';

/** Differences between the wires. `service.ts` builds one policy and gives it to routes and logins. */
export interface WirePolicy {
  refusals: LoginRefusals;
  /** Returns the error for a request about an unknown user; `notFound` is the error of the query. */
  unknownUser(notFound: AppError): AppError;
  /** Whether the check of access to monitoring accepts any credential. Otherwise it accepts only the token of a cookie. */
  monitorsByAnyCredential: boolean;
}

/** The wire of the specification. */
export const specWire: WirePolicy = {
  refusals: specRefusals,
  unknownUser: (notFound) => notFound,
  monitorsByAnyCredential: true,
};
