import type { AppError } from '@baton/kernel';
import { type LoginRefusals, specRefusals } from '../domain/login-refusals';

/** What differs between the wires. `service.ts` builds one and gives it to routes and logins. */
export interface WirePolicy {
  refusals: LoginRefusals;
  /** What a request about a user that is not there is told, given what the query said. */
  unknownUser(notFound: AppError): AppError;
  /** Whether the check of access to monitoring takes any credential. Otherwise it takes the token of a cookie. */
  monitorsByAnyCredential: boolean;
}

/** The wire of the specification. */
export const specWire: WirePolicy = {
  refusals: specRefusals,
  unknownUser: (notFound) => notFound,
  monitorsByAnyCredential: true,
};
