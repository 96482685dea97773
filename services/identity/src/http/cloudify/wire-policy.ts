import { badParameter } from '@baton/kernel';
import { noCredentials, unauthorized } from '../../domain/login-refusals';
import type { WirePolicy } from '../wire-policy';

/** The answers of the original API (docs/compatibility.md). */
export const cloudifyWire: WirePolicy = {
  // The texts of the original; the one for a wrong password shows that the user exists.
  refusals: {
    unknown: noCredentials,
    rejected: (username) =>
      unauthorized(`Authentication failed for user ${username}. Wrong credentials or locked account`),
    inactive: noCredentials,
  },
  // The original answers an unknown user with a bad parameter, where the specification defines nothing.
  unknownUser: (notFound) => badParameter('username', notFound.message),
  monitorsByAnyCredential: false,
};
